import { serviceMain } from "../src/commands/services/service-main.js";

await serviceMain("worker", process.argv.slice(2));

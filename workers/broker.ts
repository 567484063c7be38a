import { serviceMain } from "../src/commands/services/service-main.js";

await serviceMain("broker", process.argv.slice(2));

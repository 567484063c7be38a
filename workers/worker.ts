import { serviceMain } from "../src/services/main.js";

await serviceMain("worker", process.argv.slice(2));

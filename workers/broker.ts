import { serviceMain } from "../src/services/main.js";

await serviceMain("broker", process.argv.slice(2));

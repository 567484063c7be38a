import { readFileSync, writeFileSync } from "node:fs";
import { alertRules, alertTests } from "./alerts.js";
import { verdictDoc } from "./verdict-doc.js";

/**
 * Writes what follows from src/observe/verdict: config/prometheus/{rules,tests}/verdict.yml, and the table in docs/live-page.md.
 * Run with: npx tsx scripts/gen-verdict.ts
 */
const file = (path: string): URL => new URL(`../${path}`, import.meta.url);
writeFileSync(file("config/prometheus/rules/verdict.yml"), alertRules());
writeFileSync(file("config/prometheus/tests/verdict.yml"), alertTests());
writeFileSync(file("docs/live-page.md"), verdictDoc(readFileSync(file("docs/live-page.md"), "utf8")));

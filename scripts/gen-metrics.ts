import { readFileSync, writeFileSync } from "node:fs";
import { metricsDoc } from "./metrics-doc.js";

/** Writes the tables of docs/metrics.md from src/observe/metrics. Run with: npx tsx scripts/gen-metrics.ts */
const file = new URL("../docs/metrics.md", import.meta.url);
writeFileSync(file, metricsDoc(readFileSync(file, "utf8")));

import { writeFileSync } from "node:fs";
import { grafanaJson } from "./dashboards/grafana.js";
import { DASHBOARDS } from "./dashboards/index.js";

/** Writes config/grafana/dashboards. Run with: npx tsx scripts/gen-dashboards.ts */
const folder = new URL("../config/grafana/dashboards/", import.meta.url);
for (const [file, dashboard] of Object.entries(DASHBOARDS))
  writeFileSync(new URL(file, folder), grafanaJson(dashboard));

import type { Dashboard } from "./panel.js";
import { pipeline } from "./pipeline.js";
import { platform } from "./platform.js";
import { training } from "./training.js";

/** File below config/grafana/dashboards → dashboard. */
export const DASHBOARDS: Readonly<Record<string, Dashboard>> = {
  "training.json": training,
  "pipeline.json": pipeline,
  "platform.json": platform,
};

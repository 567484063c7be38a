import type { MountRecord, ReleaseRecord, ResultRecord } from "../../../../src/observe/history/history-record.js";

let count = 0;
const about = (incarnation: number) => ({ id: `${++count}-0`, run: "r", incarnation, at: count });

export const mountRecord = (
  incarnation: number,
  settings: Readonly<Record<string, string>>,
  version = "1.0.0",
): MountRecord => ({ ...about(incarnation), kind: "mounted", version, settings });

export const released = (step: number, incarnation = 1): ReleaseRecord => ({
  ...about(incarnation),
  kind: "released",
  step,
  trigger: 0,
  wait_ms: step,
});

export const result = (step: number, incarnation = 1, version = "1.0.0"): ResultRecord => ({
  ...about(incarnation),
  kind: "result",
  step,
  trigger: 0,
  pipeline: "main",
  mechanism: "reweight",
  stage: "post_advantage",
  granularity: "row",
  rows: 4,
  ms: 1,
  metrics: {},
  flags: [],
  warnings: [],
  timings: {},
  worker: "w",
  pid: 1,
  version,
});

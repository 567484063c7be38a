import { expect, test } from "vitest";
import { type Guard, violations } from "../../../../src/observe/metrics/guards.js";
import { LiveRun } from "../../../../src/observe/metrics/live-run.js";
import type { FailureHeader, ResultHeader } from "../../../../src/protocol/messages.js";
import type { WeightStats } from "../../../../src/protocol/statistics-messages.js";
import { resultOf } from "../../../helpers/executions.js";

const violated = (more: Partial<ResultHeader>, stats: Partial<WeightStats> = {}): Guard[] =>
  [...violations(resultOf({ stats: { ...resultOf().stats!, ...stats }, ...more }))]
    .filter(([, bad]) => bad)
    .map(([guard]) => guard);

test("a healthy step violates nothing", () => {
  expect(violated({})).toEqual([]);
});

test("each guard by itself", () => {
  expect(violated({}, { ess_ratio: 0.29 })).toEqual(["ess"]);
  expect(violated({}, { ess_ratio: 0.3 })).toEqual([]);
  expect(violated({}, { kept_ratio: 0.04 })).toEqual(["kept"]);
  expect(violated({}, { mean: 2.1 })).toEqual(["mean"]);
  expect(violated({}, { mean: 0.49 })).toEqual(["mean"]);
  expect(violated({ flags: ["neutral_nonfinite"] })).toEqual(["nonfinite"]);
  expect(violated({ metrics: { rows_dropped_nonfinite: 2 } })).toEqual(["nonfinite"]);
  expect(violated({ score_stats: { n: 8, mean: 1, std: 0 } })).toEqual(["constant_score"]);
  expect(violated({ score_stats: { n: 1, mean: 1, std: 0 } })).toEqual([]);
});

test("a selection is not judged by its effective sample size or mean", () => {
  const found = violations(
    resultOf({ mechanism: "select", stats: { ...resultOf().stats!, ess_ratio: 0.1, mean: 0.1 } }),
  );
  expect([...found.keys()]).toEqual(["nonfinite", "kept", "constant_score"]);
});

test("of failures only a non-finite value says anything", () => {
  const failure = (code: FailureHeader["code"]): FailureHeader => ({
    v: 1,
    kind: "failure",
    pipeline: "main",
    stage: "post_advantage",
    attempt: 1,
    code,
    message: "m",
    details: {},
    producer: { worker: "w", pid: 1, job_id: "j" },
  });
  expect([...violations(failure("NON_FINITE"))]).toEqual([["nonfinite", true]]);
  expect([...violations(failure("EXPIRED"))]).toEqual([]);
});

test("streaks count per pipeline and guard, and end with the first good step", () => {
  const run = new LiveRun("r", 1, { specs: new Map(), onUnavailable: "error" }, 0);
  expect([true, true, false, true].map((bad) => run.streak("a", "ess", bad))).toEqual([1, 2, 0, 1]);
  expect(run.streak("b", "ess", true)).toBe(1);
  expect(run.streak("a", "kept", true)).toBe(1);
});

test("a step's latency is that of its last outcome, reported once; steps that nobody releases are forgotten", () => {
  const run = new LiveRun("r", 1, { specs: new Map(), onUnavailable: "error" }, 0);
  run.settledAfter("1.0", 40);
  run.settledAfter("1.0", 30);
  expect(run.takeLatency("1.0")).toBe(40);
  expect(run.takeLatency("1.0")).toBeUndefined();
  for (let step = 0; step < 1_000; step++) run.settledAfter(`${step}.0`, step);
  expect(run.takeLatency("0.0")).toBeUndefined();
  expect(run.takeLatency("999.0")).toBe(999);
});

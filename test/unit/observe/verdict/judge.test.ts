import { describe, expect, test } from "vitest";
import type { StepRecord } from "../../../../src/observe/history/history-record.js";
import { type JudgedPipeline, judge, verdictOf } from "../../../../src/observe/verdict/judge.js";
import { JudgedSteps, WINDOW } from "../../../../src/observe/verdict/judged-steps.js";
import { failureRecord, releaseRecord, resultRecord, statsOf } from "./judged-records.js";

type Weighed = Partial<Parameters<typeof statsOf>[0]>;
const MAIN: JudgedPipeline = { name: "main", mechanism: "reweight", delivered: true };
const SELECT: JudgedPipeline = { name: "keep", mechanism: "select", delivered: true };

/** A run of so many steps; `at` answers what is unlike a healthy step. */
interface Unlike {
  main?: Weighed | "fails" | "none";
  keep?: Weighed;
  combined?: Weighed;
  release?: object;
  flags?: readonly string[];
  metrics?: Record<string, number>;
  scoreStd?: number;
}
function verdict(steps: number, at: (step: number) => Unlike | undefined, pipelines = [MAIN]) {
  const seen = new JudgedSteps();
  for (let step = 1; step <= steps; step++)
    for (const record of recordsOf(step, at(step) ?? {}, pipelines)) seen.add(record);
  return verdictOf(judge(seen.all, pipelines));
}
function recordsOf(step: number, unlike: Unlike, pipelines: readonly JudgedPipeline[]): StepRecord[] {
  const { main = {}, keep = {}, combined = {}, release = {}, flags = [], metrics = {}, scoreStd = 0.5 } = unlike;
  const records: StepRecord[] = [];
  if (main === "fails") records.push(failureRecord(step, "main", "COMPONENT"));
  else if (main !== "none" && pipelines.includes(MAIN)) {
    const score_stats = { n: 128, mean: 0, std: scoreStd };
    records.push(resultRecord(step, "main", { stats: statsOf(main), flags, metrics, score_stats }));
  }
  if (pipelines.includes(SELECT))
    records.push(resultRecord(step, "keep", { mechanism: "select", stats: statsOf(keep) }));
  const weights =
    main === "fails" || main === "none"
      ? {}
      : { combined: { level: "sample" as const, stats: statsOf(combined), clipped: { low: 0, high: 0 } } };
  records.push(releaseRecord(step, { ...weights, ...release }));
  return records;
}
const codes = (v: ReturnType<typeof verdict>): string[] => v.reasons.map((r) => `${r.level} ${r.code}`);
const always = (unlike: Unlike) => () => unlike;
const last = (n: number, of: number, unlike: Unlike) => (step: number) => (step > of - n ? unlike : undefined);

describe("healthy runs are called healthy", () => {
  test.each<[string, number, (step: number) => Unlike | undefined, JudgedPipeline[]?]>([
    ["one step", 1, () => undefined],
    ["a hundred steps", 100, () => undefined],
    [
      "a selection that keeps 30 %",
      60,
      always({
        keep: { mean: 0.3, ess_ratio: 0.3, kept_ratio: 0.3, zero_ratio: 0.7 },
        combined: { mean: 0.3, ess_ratio: 0.3, kept_ratio: 0.3, zero_ratio: 0.7 },
      }),
      [SELECT],
    ],
    ["early steps with constant scores", 15, always({ scoreStd: 0 })],
    [
      "a batch of eight rows of which one weighs most",
      60,
      always({ main: { n: 8, ess_ratio: 0.2, max: 6 }, combined: { n: 8, ess_ratio: 0.2, max: 6 } }),
    ],
    [
      "two steps with a low effective sample",
      60,
      last(2, 60, { main: { ess_ratio: 0.05 }, combined: { ess_ratio: 0.05 } }),
    ],
    ["a mean of 1.5", 60, always({ main: { mean: 1.5 }, combined: { mean: 1.5 } })],
    ["a wait of one step in five", 60, (step) => (step % 5 === 0 ? { release: { wait_ms: 9_000 } } : undefined)],
    ["waits of milliseconds in a loop that does nothing else", 60, always({ release: { wait_ms: 900 } })],
    ["masks that leave a tenth of the rows", 60, always({ main: { n: 200, kept_ratio: 1 } })],
    ["no weights asked for", 60, always({ main: "none" })],
  ])("%s", (_, steps, at, pipelines) =>
    expect(verdict(steps, at, pipelines)).toEqual({ level: "ok", since_step: null, reasons: [] }),
  );

  test("a shadow is not judged", () => {
    const shadow = { ...MAIN, delivered: false };
    const seen = new JudgedSteps();
    for (let step = 1; step < 50; step++) seen.add(resultRecord(step, "main", { stats: statsOf({ ess_ratio: 0.01 }) }));
    expect(judge(seen.all, [shadow])).toEqual([]);
  });
});

describe("sick runs are called sick", () => {
  const low = { ess_ratio: 0.2 };
  const collapsed = { ess_ratio: 0.02 };
  const none = { mean: 0, std: 0, ess_ratio: 0, kept_ratio: 0, zero_ratio: 1, max: 0 };
  const few = { mean: 0.02, ess_ratio: 0.02, kept_ratio: 0.02, zero_ratio: 0.98 };
  test.each<[string, number, (step: number) => Unlike | undefined, string[], JudgedPipeline[]?]>([
    ["a low effective sample, three running", 40, last(3, 40, { main: low, combined: low }), ["warn few_rows"]],
    ["a collapsed one", 40, last(3, 40, { main: collapsed, combined: collapsed }), ["bad few_rows"]],
    [
      "two healthy pipelines whose product has collapsed",
      40,
      last(3, 40, { combined: { ess_ratio: 0.066, mean: 2.64 } }),
      ["bad few_rows", "warn mean"],
      [MAIN, SELECT],
    ],
    ["one pipeline alone, where nothing is composed", 40, last(3, 40, { main: collapsed }), ["bad few_rows"]],
    [
      "a low effective sample among what a selection keeps",
      40,
      last(3, 40, { combined: { n: 512, ess_ratio: 0.03, zero_ratio: 0.7, mean: 0.3 } }),
      ["bad few_rows"],
    ],
    ["nothing kept once", 40, last(1, 40, { main: none, combined: none }), ["warn nothing_kept"]],
    ["nothing kept three times", 40, last(3, 40, { main: none, combined: none }), ["bad nothing_kept"]],
    ["next to nothing kept, early", 12, last(3, 12, { main: few, combined: few }), ["warn nothing_kept"]],
    ["next to nothing kept, later", 40, last(3, 40, { main: few, combined: few }), ["bad nothing_kept"]],
    ["a mean of .4", 40, last(3, 40, { main: { mean: 0.4 }, combined: { mean: 0.4 } }), ["warn mean"]],
    ["a mean of 6", 40, last(3, 40, { main: { mean: 6 }, combined: { mean: 6 } }), ["bad mean"]],
    ["one row with a third of all weight", 40, last(3, 40, { combined: { max: 45 } }), ["warn one_row"]],
    [
      "one step without weights",
      40,
      last(1, 40, { main: "none", release: { neutral: "TIMEOUT" } }),
      ["warn no_weights"],
    ],
    ["three running", 40, last(3, 40, { main: "none", release: { neutral: "TIMEOUT" } }), ["bad no_weights"]],
    [
      "steps without weights whose releases were lost",
      40,
      last(1, 40, { release: { unreported: 64 } }),
      ["bad no_weights"],
    ],
    [
      "a quarter of the steps",
      60,
      (step) => (step % 4 === 0 ? { main: "none", release: { neutral: "EXPIRED" } } : undefined),
      ["bad no_weights"],
    ],
    ["a scorer that fails", 40, last(3, 40, { main: "fails" }), ["bad no_weights"]],
    ["a dropped row that was NaN", 40, last(1, 40, { metrics: { rows_dropped_nonfinite: 1 } }), ["warn nonfinite"]],
    [
      "a third of the rows dropped for NaN",
      40,
      last(3, 40, { metrics: { rows_dropped_nonfinite: 40 } }),
      ["bad nonfinite"],
    ],
    ["neutral weights for NaN", 40, last(3, 40, { flags: ["neutral_nonfinite"] }), ["bad nonfinite"]],
    ["constant scores", 40, last(5, 40, { scoreStd: 0 }), ["warn constant_scores"]],
    ["waits of half the step", 40, last(10, 40, { release: { wait_ms: 5_000 } }), ["warn waits"]],
    [
      "flapping",
      40,
      (step) => (step > 20 && step % 4 === 0 ? { main: collapsed, combined: collapsed } : undefined),
      ["warn flapping"],
    ],
  ])("%s", (_, steps, at, expected, pipelines) => expect(codes(verdict(steps, at, pipelines))).toEqual(expected));
});

describe("how a verdict comes and goes", () => {
  const sick = { combined: { ess_ratio: 0.02 }, main: { ess_ratio: 0.02 } };
  test("it names the first step of the trouble, and numbers of the newest", () => {
    const v = verdict(40, last(6, 40, sick));
    expect(v).toMatchObject({ level: "bad", since_step: 35 });
    expect(v.reasons[0]!.text).toContain("the weights that the loss takes at step 40 have an effective sample of 2 %");
  });
  test("shares are numbers that people read", () => {
    const nan = { metrics: { rows_dropped_nonfinite: 128 } };
    expect(verdict(40, last(1, 40, nan)).reasons[0]!.text).toBe(
      "100 % of the rows of step 40 had values that are not finite",
    );
  });
  test("five healthy steps bring bad to warn, five more end it", () => {
    const until = (end: number) => codes(verdict(end, (step) => (step >= 11 && step <= 20 ? sick : undefined)));
    expect(until(20)).toEqual(["bad few_rows"]);
    expect(until(24)).toEqual(["bad few_rows"]);
    expect(until(25)).toEqual(["warn few_rows"]);
    expect(until(29)).toEqual(["warn few_rows"]);
    // Ten sick steps of the last twenty are still much.
    expect(until(30)).toEqual(["warn flapping"]);
    expect(until(37)).toEqual([]);
  });
  test("only what lies within the window counts, however long a process has looked on", () => {
    const long = new JudgedSteps();
    const short = new JudgedSteps();
    for (let step = 1; step <= 3 * WINDOW; step++) {
      for (const record of recordsOf(step, step % 7 < 3 ? sick : {}, [MAIN])) {
        long.add(record);
        if (step > 2 * WINDOW) short.add(record);
      }
    }
    expect(judge(long.all, [MAIN])).toEqual(judge(short.all, [MAIN]));
  });
  test("a trainer that goes back takes its sick steps back with it", () => {
    const seen = new JudgedSteps();
    for (let step = 1; step <= 40; step++)
      for (const record of recordsOf(step, step > 30 ? sick : {}, [MAIN])) seen.add(record);
    for (const record of recordsOf(31, {}, [MAIN])) seen.add({ ...record, incarnation: 2 });
    expect(seen.all.at(-1)).toMatchObject({ step: 31, incarnation: 2 });
    expect(judge(seen.all, [MAIN])).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { METRICS, metricsOf } from "../../../../src/observe/metrics/definitions.js";
import { LABELS, type LabelName } from "../../../../src/observe/metrics/labels.js";
import { Meter } from "../../../../src/observe/metrics/meter.js";
import { binsOf, WEIGHT_EDGES } from "../../../../src/scoring/distribution.js";
import { seriesOf } from "../../../helpers/metrics.js";

const meter = (): Meter => new Meter(METRICS);
const lines = async (m: Meter): Promise<Map<string, number>> => seriesOf(await m.registry.metrics());
const STEP = { run: "r", pipeline: "p", delivered: "true", stage: "post_reward", outcome: "applied" };
const WEIGHT = {
  run: "r",
  pipeline: "p",
  delivered: "true",
  stage: "post_reward",
  mechanism: "select",
  level: "sample",
};

describe("recording never fails work", () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "%s is dropped and counted",
    async (value) => {
      const m = meter();
      m.inc("dataflex_steps_total", STEP, 2);
      m.inc("dataflex_steps_total", STEP, value);
      m.set("dataflex_weight_mean", WEIGHT, 1);
      m.set("dataflex_weight_mean", WEIGHT, value);
      m.observe("dataflex_step_duration_seconds", { run: "r", stage: "post_reward" }, value);
      const series = await lines(m);
      const label = 'run="r",pipeline="p",delivered="true",stage="post_reward"';
      expect(series.get(`dataflex_steps_total{${label},outcome="applied"}`)).toBe(2);
      expect(series.get(`dataflex_weight_mean{${label},mechanism="select",level="sample"}`)).toBe(1);
      for (const metric of ["dataflex_steps_total", "dataflex_weight_mean", "dataflex_step_duration_seconds"]) {
        expect(series.get(`dataflex_metrics_dropped_total{metric="${metric}",drop="nonfinite"}`)).toBe(1);
      }
    },
  );

  test("a counter never goes down", async () => {
    const m = meter();
    m.inc("dataflex_steps_total", STEP, 3);
    m.inc("dataflex_steps_total", STEP, -1);
    const series = await lines(m);
    expect([...series].find(([name]) => name.startsWith("dataflex_steps_total"))?.[1]).toBe(3);
    expect(series.get('dataflex_metrics_dropped_total{metric="dataflex_steps_total",drop="negative"}')).toBe(1);
  });

  test("a metric of another registry is dropped and counted where drops are", async () => {
    const own = new Meter(metricsOf("broker", false));
    const shared = new Meter(metricsOf("broker", true), { drops: own });
    shared.inc("dataflex_samples_total", { stage: "post_reward" });
    expect((await lines(own)).get('dataflex_metrics_dropped_total{metric="dataflex_samples_total",drop="error"}')).toBe(
      1,
    );
  });
});

describe("labels stay closed", () => {
  test("a value outside a closed list becomes _other in a counter", async () => {
    const m = meter();
    m.inc("dataflex_steps_total", { ...STEP, outcome: "exploded", stage: "in_loss" });
    const name = 'dataflex_steps_total{run="r",pipeline="p",delivered="true",stage="_other",outcome="_other"}';
    expect((await lines(m)).get(name)).toBe(1);
  });

  test("32 runs live, the rest is _other; their gauges are not mixed up", async () => {
    const m = meter();
    for (let i = 0; i < 40; i++) {
      m.inc("dataflex_steps_total", { ...STEP, run: `run-${i}` });
      m.set("dataflex_weight_mean", { ...WEIGHT, run: `run-${i}` }, i);
    }
    const series = [...(await lines(m))];
    const runs = (metric: string): string[] =>
      series.flatMap(([name]) => (name.startsWith(metric) ? [/run="([^"]*)"/.exec(name)![1]!] : []));
    expect(runs("dataflex_steps_total")).toHaveLength(33);
    expect(series.find(([name]) => name.includes('run="_other"'))?.[1]).toBe(8);
    expect(runs("dataflex_weight_mean")).toHaveLength(32);
    m.remove("run", "run-0");
    m.set("dataflex_weight_mean", { ...WEIGHT, run: "run-39" }, 39);
    expect([...(await lines(m)).keys()].some((name) => name.startsWith('dataflex_weight_mean{run="run-39"'))).toBe(
      true,
    );
  });

  test("what finds no room is _other with all its open labels, until room is made; nothing is lost", async () => {
    const m = new Meter(METRICS, { lines: 100 });
    for (let i = 0; i < 60; i++) m.inc("dataflex_steps_total", { ...STEP, run: "big", pipeline: `p-${i}` });
    m.inc("dataflex_steps_total", { ...STEP, run: "late" });
    m.set("dataflex_weight_mean", { ...WEIGHT, run: "late" }, 1);
    const other =
      'dataflex_steps_total{run="_other",pipeline="_other",delivered="true",stage="post_reward",outcome="applied"}';
    expect((await lines(m)).get(other)).toBe(1);
    for (let i = 60; i < 200; i++) m.inc("dataflex_steps_total", { ...STEP, run: "big", pipeline: `p-${i}` });
    const full = await lines(m);
    expect(full.get(other)).toBe(102);
    expect([...full.values()].reduce((a, b) => a + b, 0)).toBe(201);
    expect([...full.keys()].filter((name) => name.startsWith("dataflex_weight_mean"))).toEqual([]);
    m.remove("run", "big");
    m.set("dataflex_weight_mean", { ...WEIGHT, run: "late" }, 1);
    expect([...(await lines(m)).keys()].some((n) => n.startsWith('dataflex_weight_mean{run="late"'))).toBe(true);
  });

  test("10,000 runs, pipelines, queues and scorers leave the series count flat", async () => {
    const m = meter();
    const record = (i: number): void => {
      for (const metric of METRICS) {
        const labels = Object.fromEntries(metric.labels.map((l) => [l, labelOf(l, i)]));
        if (metric.type === "counter") m.inc(metric.name, labels as never);
        else if (metric.type === "gauge") m.set(metric.name, labels as never, i);
        else if ("binned" in metric) m.addBins(metric.name, labels as never, { counts: ones(metric.buckets), sum: i });
        else m.observe(metric.name, labels as never, i);
      }
      // As many runs live as the label allows, now and then fewer.
      if (i % 40 === 39) for (let j = i - 39; j <= i; j++) m.remove("run", labelOf("run", j));
    };
    const counts: number[] = [];
    for (let i = 0; i < 10_000; i++) {
      record(i);
      if (i === 999 || i === 4_999 || i === 9_999) counts.push((await lines(m)).size);
    }
    expect(counts[2]).toBe(counts[0]);
    expect(counts[1]).toBe(counts[0]);
    // All tables in one meter; config/prometheus allows a process 20,000.
    expect(counts[0]).toBeLessThan(8_000);
  });
});

/** Open labels get a new value each time, closed ones their first. */
function labelOf(label: LabelName, i: number): string {
  const rule = LABELS[label];
  return "values" in rule ? rule.values[0] : `${label}-${i}`;
}

test("a counter that was zero-initialised is there before it counts", async () => {
  const m = meter();
  m.init("dataflex_steps_total", STEP);
  expect([...(await lines(m)).values()]).toContain(0);
  m.inc("dataflex_steps_total", STEP);
  m.init("dataflex_steps_total", STEP);
  expect([...(await lines(m))].find(([name]) => name.startsWith("dataflex_steps_total"))?.[1]).toBe(1);
});

test("a gauge nobody has set says nothing", async () => {
  expect([...(await lines(meter())).keys()].filter((n) => /dataflex_(redis_(up|mem|conf)|jobs|ready)/.test(n))).toEqual(
    [],
  );
});

test("two meters in one process know nothing of each other, and a meter can be emptied", async () => {
  const [a, b] = [meter(), meter()];
  // Counters and histograms without labels are there from the start, at 0.
  const born = (await lines(b)).size;
  a.inc("dataflex_steps_total", STEP);
  a.set("dataflex_redis_up", {}, 1);
  expect((await lines(a)).size).toBe(born + 2);
  expect((await lines(b)).size).toBe(born);
  a.reset();
  expect((await lines(a)).size).toBe(born);
});

const ones = (buckets: readonly number[]): number[] => [...buckets, Infinity].map(() => 1);

describe("distributions that were counted elsewhere", () => {
  const name = "dataflex_weight_value";
  const labels = { run: "r", pipeline: "p", delivered: "true", stage: "post_reward", mechanism: "reweight" } as const;
  const bins = (of: Record<number, number>): number[] =>
    Array.from({ length: WEIGHT_EDGES.length + 1 }, (_, i) => of[i] ?? 0);

  test("add up to cumulative buckets, sum and count, and go with their run", async () => {
    const m = meter();
    m.addBins(name, labels, { counts: bins({ 0: 2, 7: 1 }), sum: 1 });
    m.addBins(name, labels, { counts: bins({ 7: 1, 17: 1 }), sum: 201 });
    const page = await lines(m);
    const bucket = (le: string): number | undefined =>
      [...page].find(([series]) => series.startsWith(`${name}_bucket{le="${le}"`))?.[1];
    expect(["0", "0.9", "1", "100", "+Inf"].map(bucket)).toEqual([2, 2, 4, 4, 5]);
    expect([...page].find(([series]) => series.startsWith(`${name}_sum`))?.[1]).toBe(202);
    expect([...page].find(([series]) => series.startsWith(`${name}_count`))?.[1]).toBe(5);
    m.remove("run", "r");
    expect([...(await lines(m)).keys()].filter((series) => series.startsWith(name))).toEqual([]);
  });

  test("buckets that are fewer than the bins hold exactly what lies at or below them", async () => {
    const m = meter();
    const values = Float64Array.from({ length: 999 }, (_, i) => (i % 7 === 0 ? 0 : 1.01 ** (i - 400))).sort();
    m.addBins(name, labels, binsOf(values, WEIGHT_EDGES));
    for (const [series, count] of await lines(m)) {
      const le = /_bucket\{le="([^"]+)"/.exec(series)?.[1];
      if (!le || !series.startsWith(name)) continue;
      expect([le, count]).toEqual([le, values.filter((v) => le === "+Inf" || v <= Math.fround(Number(le))).length]);
    }
  });

  test("of another version's bins, or not finite, are dropped and counted", async () => {
    const m = meter();
    m.addBins(name, labels, { counts: [1, 2], sum: 3 });
    m.addBins(name, labels, { counts: bins({ 0: -1 }), sum: 3 });
    m.addBins(name, labels, { counts: bins({ 0: 1 }), sum: Number.NaN });
    const dropped = [...(await lines(m))].filter(([series]) => series.startsWith("dataflex_metrics_dropped_total"));
    expect(dropped.map(([, value]) => value).sort()).toEqual([1, 2]);
    expect([...(await lines(m)).keys()].filter((series) => series.startsWith(`${name}_`))).toEqual([]);
  });
});

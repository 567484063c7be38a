import { describe, expect, test } from "vitest";
import { pack } from "../../src/protocol/codec.js";
import { runKeys } from "../../src/redis/keys.js";
import { weightDistribution } from "../../src/scoring/distribution.js";
import { resultOf, specOf } from "../helpers/executions.js";
import { seriesOf, valueIn } from "../helpers/metrics.js";
import { MetricsBench } from "../helpers/metrics-bench.js";

const own = MetricsBench.use();
const STAGE = { stage: "post_advantage" } as const;
const shadow = specOf({
  name: "trial",
  shadow: true,
  mechanism: "select",
  actuator: { name: "topk_fraction", params: {} },
});

describe("what settle and release report", () => {
  test("weights, scores, steps, durations and waits of a run with a shadow", async () => {
    const leader = await own.leader();
    const handle = await own.mount("qwen/grpo-1", [specOf(), shadow]);
    const stats = { n: 8, mean: 0.5, std: 0.5, min: 0, max: 1, ess_ratio: 0.5, kept_ratio: 0.5, zero_ratio: 0.5 };
    await handle.settle("7.0", resultOf(), resultOf({ pipeline: "trial", mechanism: "select", stats }));
    await handle.release("7.0", 250);

    const page = await leader.until((p) => valueIn(p, "dataflex_trainer_wait_seconds_count") === 1);
    const main = { run: "qwen/grpo-1", pipeline: "main", delivered: "true" };
    const trial = { run: "qwen/grpo-1", pipeline: "trial", delivered: "false" };
    const weights = { ...main, ...STAGE, mechanism: "reweight", level: "sample" };
    const want = { mean: 1, std: 1, min: 0, max: 2, ess_ratio: 0.5, kept_ratio: 0.5, zero_ratio: 0.5 };
    for (const [name, value] of Object.entries(want))
      expect(valueIn(page, `dataflex_weight_${name}`, weights)).toBe(value);
    expect(valueIn(page, "dataflex_weight_mean", { ...trial, mechanism: "select" })).toBe(0.5);
    expect(valueIn(page, "dataflex_score_mean", { ...main, scorer: "advantage_magnitude" })).toBe(0.25);
    expect(valueIn(page, "dataflex_score_std", trial)).toBe(0.125);
    expect(valueIn(page, "dataflex_steps_total", { ...main, outcome: "applied" })).toBe(1);
    expect(valueIn(page, "dataflex_steps_total", { ...main, outcome: "failed" })).toBe(0);
    // Delivered pipelines only: nobody waits for a shadow.
    expect(valueIn(page, "dataflex_step_duration_seconds_count", { run: main.run, ...STAGE })).toBe(1);
    expect(valueIn(page, "dataflex_step_duration_seconds_sum")).toBeGreaterThanOrEqual(0.04);
    expect(valueIn(page, "dataflex_trainer_wait_seconds_sum", { run: main.run })).toBe(0.25);
    // Enqueued and applied between two looks at Redis: its being enqueued is reported all the same.
    for (const point of ["enqueued", "published", "applied"])
      expect([point, valueIn(page, "dataflex_run_step", { run: main.run, point })]).toEqual([point, 7]);
    const info = { ...trial, mechanism: "select", scorer: "advantage_magnitude", actuator: "topk_fraction" };
    expect(valueIn(page, "dataflex_run_info", info)).toBe(1);
  });

  test("two reweighters and a shadow have a series each for every statistic, and their product one more", async () => {
    const leader = await own.leader();
    const specs = [specOf({ name: "sharp" }), specOf({ name: "soft" }), specOf({ name: "trial", shadow: true })];
    const handle = await own.mount("three", specs);
    const of = (n: number) => {
      const stats = {
        n: 8,
        mean: n,
        std: n + 0.1,
        min: n + 0.2,
        max: n + 0.3,
        ess_ratio: 0.1 * n,
        kept_ratio: 1,
        zero_ratio: 0,
      };
      return { stats, score_stats: { n: 8, mean: 10 * n, std: n } };
    };
    const quantiles = (n: number) => ({ weights: weightDistribution(Float64Array.of(n)) });
    for (const step of ["1.0", "2.0"]) {
      const settled = specs.map(({ name }, i) =>
        resultOf({ pipeline: name, ...of(i + 1), distribution: quantiles(i + 1) }),
      );
      await handle.settle(step, ...(step === "1.0" ? settled : settled.reverse()));
      await handle.release(step, 1, { level: "token", stats: of(4).stats, clipped: { low: 0, high: 0 } });
    }
    const page = await leader.until((p) => valueIn(p, "dataflex_trainer_wait_seconds_count") === 2);
    const all = [...specs.map((s) => [s.name, String(!s.shadow)] as const), ["_combined", "true"] as const];
    for (const [i, [pipeline, delivered]] of all.entries()) {
      const { stats, score_stats } = of(i + 1);
      const labels = { run: "three", pipeline, delivered };
      for (const [name, value] of Object.entries(stats)) {
        if (name !== "n")
          expect([pipeline, name, valueIn(page, `dataflex_weight_${name}`, labels)]).toEqual([pipeline, name, value]);
      }
      if (pipeline === "_combined") continue;
      expect(valueIn(page, "dataflex_score_mean", labels)).toBe(score_stats.mean);
      expect(valueIn(page, "dataflex_weight_quantile", { ...labels, q: "0.5" })).toBe(i + 1);
      expect(valueIn(page, "dataflex_steps_total", { ...labels, outcome: "applied" })).toBe(2);
    }
    const means = [...seriesOf(page).keys()].filter((name) => name.startsWith("dataflex_weight_mean"));
    expect(means).toHaveLength(4);
  });

  test("quantiles, hidden time, and the composition as the trainer reported it", async () => {
    const leader = await own.leader();
    const handle = await own.mount("composed", [specOf()]);
    const distribution = { weights: weightDistribution(Float64Array.of(0, 0, 0, 0, 2, 2, 2, 2)) };
    await handle.settle("1.0", resultOf({ distribution }));
    const settled = await leader.until((p) => valueIn(p, "dataflex_step_duration_seconds_count") === 1);
    const first = valueIn(settled, "dataflex_step_duration_seconds_sum")!;
    const combined = { level: "token", stats: { ...resultOf().stats!, mean: 0.75, ess_ratio: 0.25 } } as const;
    await handle.release("1.0", 10, { ...combined, clipped: { low: 0.125, high: 0.5 } });
    await handle.settle("2.0", resultOf({ distribution }));
    await handle.release("2.0", 60_000);
    const page = await leader.until((p) => valueIn(p, "dataflex_trainer_hidden_seconds_count") === 2);
    for (const [q, value] of [
      ["0.01", 0],
      ["0.5", 1],
      ["0.99", 2],
    ] as const) {
      expect(valueIn(page, "dataflex_weight_quantile", { pipeline: "main", q })).toBe(value);
    }
    // What was not waited for: of the first step all but 10 ms, of the second nothing.
    expect(valueIn(page, "dataflex_trainer_hidden_seconds_sum")).toBeCloseTo(first - 0.01, 6);
    const product = { pipeline: "_combined", delivered: "true", ...STAGE, mechanism: "reweight", level: "token" };
    expect(valueIn(page, "dataflex_weight_mean", product)).toBe(0.75);
    expect(valueIn(page, "dataflex_weight_mean", { pipeline: "main" })).toBe(1);
    expect(valueIn(page, "dataflex_weight_clipped_ratio", { ...product, side: "low" })).toBe(0.125);
    expect(valueIn(page, "dataflex_weight_clipped_ratio", { ...product, side: "high" })).toBe(0.5);
  });

  test("a run's verdict, and a mixer's shares and scores by domain", async () => {
    const leader = await own.leader();
    const mixer = specOf({ name: "mix", mechanism: "mix", actuator: { name: "reward_gap", params: {} } });
    const handle = await own.mount("guarded", [specOf(), mixer]);
    const collapsed = resultOf({ stats: { ...resultOf().stats!, n: 64, ess_ratio: 0.05, zero_ratio: 0 } });
    const { stats: _, ...rest } = resultOf({ pipeline: "mix", mechanism: "mix", granularity: "domain" });
    const mixed = { ...rest, proportions: { math: 0.7, code: 0.3 }, metrics: { "mean/math": 0.25, "rows/code": 0 } };
    for (const step of [1, 2, 3]) await handle.settle(`${step}.0`, collapsed, mixed);
    const level = (page: string, code: string): number | undefined =>
      valueIn(page, "dataflex_run_verdict_level", { run: "guarded", code });
    const page = await leader.until((p) => level(p, "few_rows") === 2);
    expect([level(page, "nothing_kept"), level(page, "nonfinite"), level(page, "no_worker")]).toEqual([0, 0, 2]);
    const domain = (name: string) => ({ run: "guarded", pipeline: "mix", delivered: "true", domain: name });
    expect(valueIn(page, "dataflex_mix_proportion_ratio", domain("math"))).toBe(0.7);
    expect(valueIn(page, "dataflex_mix_proportion_ratio", domain("code"))).toBe(0.3);
    expect(valueIn(page, "dataflex_mix_score_mean", domain("math"))).toBe(0.25);
    expect(valueIn(page, "dataflex_mix_score_mean", domain("code"))).toBeUndefined();
    for (let step = 4; step <= 13; step++) await handle.settle(`${step}.0`, resultOf());
    await leader.until((p) => level(p, "few_rows") === 0);
  });

  test("a run is there from its mount on, its counters at 0, its open step enqueued", async () => {
    const leader = await own.leader();
    const handle = await own.mount("fresh", [specOf()]);
    await handle.open("41.0");
    const page = await leader.until((p) => valueIn(p, "dataflex_run_step", { point: "enqueued" }) === 41);
    for (const outcome of ["applied", "fallback", "failed", "expired"]) {
      expect(valueIn(page, "dataflex_steps_total", { run: "fresh", outcome })).toBe(0);
    }
    expect(valueIn(page, "dataflex_weight_mean")).toBeUndefined();
  });

  test("failures by outcome; without weights where the run is mounted neutral", async () => {
    const leader = await own.leader();
    const strict = await own.mount("strict", [specOf()]);
    await strict.fail("1.0", "NON_FINITE");
    await strict.fail("2.0", "TIMEOUT");
    const neutral = await own.mount("neutral", [specOf()], { on_unavailable: "neutral" });
    await neutral.fail("1.0", "EXPIRED");
    await neutral.fail("2.0", "NON_FINITE");
    // Nobody trains without the weights of a shadow: they were never trained with.
    const watching = await own.mount("watching", [shadow, specOf()], { on_unavailable: "neutral" });
    await watching.fail("1.0", "TIMEOUT");
    const outcomes = (page: string, run: string, delivered = "true"): (number | undefined)[] =>
      ["applied", "fallback", "failed", "expired"].map((outcome) =>
        valueIn(page, "dataflex_steps_total", { run, delivered, outcome }),
      );
    await leader.until((p) => outcomes(p, "neutral").reduce((a: number, b) => a + (b ?? 0), 0) === 2);
    const page = await leader.until((p) => outcomes(p, "watching", "false")[3] === 1);
    expect(outcomes(page, "strict")).toEqual([0, 0, 1, 1]);
    expect(outcomes(page, "neutral")).toEqual([0, 1, 1, 0]);
    expect(outcomes(page, "watching")).toEqual([0, 0, 0, 0]);
  });

  test("a NaN statistic, an unreadable notice and one of an unknown run harm nothing", async () => {
    const leader = await own.leader();
    const handle = await own.mount("nan", [specOf()]);
    const { notices } = runKeys("nan");
    await own.redis.raw.xadd(notices, "*", "kind", "settled", "run", "nan", "inc", "x", "step", "1.0");
    await own.redis.raw.xadd(
      notices,
      "*",
      "kind",
      "settled",
      "run",
      "nan",
      "inc",
      "1",
      "step",
      "1.0",
      "header",
      "\xc1",
    );
    await own.redis.raw.xadd(
      notices,
      "*",
      "kind",
      "later",
      "run",
      "nan",
      "inc",
      "1",
      "step",
      "1.0",
      "header",
      Buffer.from(pack({})),
    );
    const stats = { ...resultOf().stats!, mean: Number.NaN, ess_ratio: Number.NaN };
    await handle.settle("1.0", resultOf({ stats }));
    const header = Buffer.from(pack(resultOf({ pipeline: "gone" })));
    const fields = ["kind", "settled", "run", "gone", "inc", "5", "step", "1.0", "pipeline", "gone", "ms", "5"];
    await own.redis.raw.xadd(notices, "*", ...fields, "header", header);
    const page = await leader.until(
      (p) => valueIn(p, "dataflex_steps_total", { run: "gone", outcome: "applied" }) === 1,
    );
    expect(valueIn(page, "dataflex_steps_total", { run: "nan", outcome: "applied" })).toBe(1);
    expect(valueIn(page, "dataflex_weight_mean", { run: "nan" })).toBeUndefined();
    expect(valueIn(page, "dataflex_weight_max", { run: "nan" })).toBe(2);
    expect(valueIn(page, "dataflex_metrics_dropped_total", { metric: "dataflex_weight_mean" })).toBe(1);
    expect([...seriesOf(page).values()].every(Number.isFinite)).toBe(true);
  });

  test("a new incarnation takes the old one's last values away, and its late steps only count", async () => {
    const leader = await own.leader();
    const first = await own.mount("again", [specOf()]);
    await first.settle("50.0", resultOf());
    await leader.until((p) => valueIn(p, "dataflex_run_step", { point: "published" }) === 50);
    const second = await own.mount("again", [specOf()]);
    const page = await leader.until((p) => valueIn(p, "dataflex_weight_mean") === undefined);
    expect(valueIn(page, "dataflex_steps_total", { run: "again", outcome: "applied" })).toBe(1);
    const late = [
      "kind",
      "settled",
      "run",
      "again",
      "inc",
      String(first.handle.incarnation),
      "step",
      "51.0",
      "pipeline",
      "main",
    ];
    await own.redis.raw.xadd(
      runKeys("again").notices,
      "*",
      ...late,
      "ms",
      "5",
      "header",
      Buffer.from(pack(resultOf())),
    );
    await second.settle("3.0", resultOf());
    const after = await leader.until((p) => valueIn(p, "dataflex_run_step", { point: "published" }) === 3);
    expect(valueIn(after, "dataflex_steps_total", { run: "again", outcome: "applied" })).toBe(3);
  });
});

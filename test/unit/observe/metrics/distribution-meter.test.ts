import { expect, test } from "vitest";
import { metricsOf } from "../../../../src/observe/metrics/definitions.js";
import { DistributionMeter } from "../../../../src/observe/metrics/distribution-meter.js";
import { Meter } from "../../../../src/observe/metrics/meter.js";
import { metricsPage } from "../../../../src/observe/metrics/metrics-page.js";
import { binsOf, SCORE_EDGES, weightDistribution } from "../../../../src/scoring/distribution.js";
import { executionOf, resultOf, specOf } from "../../../helpers/executions.js";
import { seriesOf, valueIn } from "../../../helpers/metrics.js";

const distribution = {
  weights: weightDistribution(Float64Array.of(0, 0, 2, 2)),
  scores: binsOf(Float64Array.of(-1, 0, 0.5, 3), SCORE_EDGES),
};

function bench() {
  const clock = { now: 1_000_000 };
  const meter = new Meter(metricsOf("worker", false));
  const distributions = new DistributionMeter(meter, () => clock.now);
  const page = (): Promise<string> =>
    metricsPage(
      () => [meter.registry],
      () => {},
    ).text();
  return { clock, distributions, page };
}

test("weights and scores of settled steps, by pipeline; what another worker settled does not count", async () => {
  const { distributions, page } = bench();
  const result = resultOf({ distribution });
  distributions.record(executionOf({ result }));
  distributions.record(executionOf({ result }));
  distributions.record(executionOf({ result, outcome: "superseded" }));
  distributions.record(executionOf({ result, spec: specOf({ name: "trial", shadow: true }) }));
  const text = await page();
  const main = { run: "r", pipeline: "main", delivered: "true" };
  const trial = { run: "r", pipeline: "trial", delivered: "false" };
  expect(valueIn(text, "dataflex_weight_value_bucket", { le: "0", ...main })).toBe(4);
  expect(
    valueIn(text, "dataflex_weight_value_count", { ...main, stage: "post_advantage", mechanism: "reweight" }),
  ).toBe(8);
  expect(valueIn(text, "dataflex_weight_value_sum", main)).toBe(8);
  expect(valueIn(text, "dataflex_weight_value_count", trial)).toBe(4);
  expect(valueIn(text, "dataflex_score_value_count", { ...main, scorer: "advantage_magnitude" })).toBe(8);
  expect(valueIn(text, "dataflex_score_value_bucket", { le: "0", ...main })).toBe(4);
});

test("non-finite rows, whatever became of them", async () => {
  const { distributions, page } = bench();
  const nonfinite = async (): Promise<number | undefined> =>
    valueIn(await page(), "dataflex_weights_nonfinite_total", { run: "r", pipeline: "main" });
  distributions.record(executionOf());
  expect(await nonfinite()).toBe(0);
  distributions.record(executionOf({ result: resultOf({ metrics: { rows_dropped_nonfinite: 3 } }) }));
  distributions.record(executionOf({ result: resultOf({ flags: ["neutral_nonfinite"] }) }));
  distributions.record(executionOf({ outcome: "failed", reason: "NON_FINITE", nonfinite: 2 }));
  distributions.record(executionOf({ outcome: "retried", reason: "REDIS_UNREACHABLE" }));
  expect(await nonfinite()).toBe(6);
});

test("a run's series go 15 minutes after its last step; a job of no known run leaves none", async () => {
  const { clock, distributions, page } = bench();
  const { spec: _, ...rest } = executionOf({ result: resultOf({ distribution }) });
  distributions.record({ ...rest, spec: undefined });
  expect(await page()).not.toContain('run="');
  const born = seriesOf(await page()).size;
  distributions.record(executionOf({ result: resultOf({ distribution }) }));
  clock.now += 15 * 60_000;
  distributions.sweep();
  expect(seriesOf(await page()).size).toBeGreaterThan(20);
  clock.now += 1;
  distributions.sweep();
  expect(seriesOf(await page()).size).toBe(born);
  expect(await page()).not.toContain('run="');
});

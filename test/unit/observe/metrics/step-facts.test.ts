import { expect, test } from "vitest";
import { metricsOf } from "../../../../src/observe/metrics/definitions.js";
import { LiveRuns } from "../../../../src/observe/metrics/live-runs.js";
import { Meter } from "../../../../src/observe/metrics/meter.js";
import { recordNotice } from "../../../../src/observe/metrics/step-facts.js";
import type { Handle } from "../../../../src/protocol/messages.js";
import { resultOf, specOf } from "../../../helpers/executions.js";
import { linesOf, valueIn } from "../../../helpers/metrics.js";

test("what built-in components counted of the last step is exported by name, and nothing else that a plugin may count", async () => {
  const meter = new Meter(metricsOf("broker", true), { lines: 1_000 });
  const runs = new LiveRuns(meter, undefined as never, Date.now);
  const run = runs.meet({ run: "a", incarnation: 1, pipelines: [specOf()] } as unknown as Handle);
  for (const [step, vetoed] of [3, 0].entries()) {
    const header = { ...resultOf({}), metrics: { rows_vetoed: vetoed, tokens_vetoed: 7, mine: 5 } };
    const of = { id: `${step}-0`, run: "a", incarnation: 1, step: `${step}.0`, at: step };
    recordNotice(meter, runs, run, { ...of, kind: "settled", pipeline: "main", header, ms: 5 }, true);
  }
  const text = await meter.registry.metrics();
  const counts = linesOf(text).filter((line) => line.startsWith("dataflex_component_counts"));
  expect(counts).toHaveLength(2);
  expect(counts.find((line) => line.includes('count="rows_vetoed"'))).toMatch(/ 0$/);
  expect(counts.find((line) => line.includes('count="tokens_vetoed"'))).toMatch(/ 7$/);
  expect(valueIn(text, "dataflex_metrics_dropped_total")).toBeUndefined();
});

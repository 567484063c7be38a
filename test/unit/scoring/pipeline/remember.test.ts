import { describe, expect, it } from "vitest";
import { z } from "../../../../src/index.js";
import { toEntry } from "../../../../src/mounting/catalogue/catalogue-entry.js";
import { packEntry, type RawState, type StateValue } from "../../../../src/protocol/saved-state.js";
import { defineSelector } from "../../../../src/scoring/components/define.js";
import { createRegistry } from "../../../../src/scoring/components/registry.js";
import { rewardDifficulty } from "../../../../src/scoring/components/scorers/reward-difficulty.js";
import { thresholdBand } from "../../../../src/scoring/components/selectors/threshold-band.js";
import { runPipeline } from "../../../../src/scoring/pipeline/pipeline.js";
import { pipelineSpec } from "../../../../src/testing/run-component.js";
import { fakeBatch, run } from "../../../../src/testing.js";

/** Keeps the rows above the mean of the last remembered step; remembers its own mean. */
const aboveLast = (values: (mean: number) => readonly StateValue[] = (mean) => [["mean", mean]]) =>
  defineSelector({
    name: "above_last",
    accepts: "row",
    params: z.strictObject({}),
    remember: (scores) => values(scores.mean()),
    remember_steps: 7,
    act: (scores, _batch, { history }) => scores.gt(history.at(-1)?.values[0]?.[1] ?? 0).nonzero(),
  });

const batch = fakeBatch({ rm_scores: [[1], [2], [3]] });
const selector = aboveLast();
const spec = pipelineSpec(rewardDifficulty, selector);
const by = "above_last reward_difficulty {}";
const stateOf = (steps: Record<string, { by: string; mean: number }>): RawState => ({
  keys: Object.keys(steps),
  entries: Object.values(steps).map(({ by, mean }) => packEntry({ inc: 1, by, values: [["mean", mean]] })),
});
const at = (step: number, state: RawState) =>
  runPipeline({
    spec,
    registry: createRegistry([rewardDifficulty, selector]),
    batch,
    run: { run: "r", step, trigger: 0 },
    state,
  });

describe("a selector that remembers", () => {
  it("finds what earlier steps left, and leaves its own", async () => {
    const outcome = await at(5, stateOf({ "3.0": { by, mean: 0 }, "4.0": { by, mean: 2 } }));
    expect([...outcome.kept!]).toEqual([2]);
    expect(outcome.remember).toEqual({ keep: 7, values: [["mean", 2]] });
  });

  it("neither sees its own step nor later ones, nor what another scorer left", async () => {
    const state = stateOf({
      "4.0": { by: "above_last other {}", mean: 9 },
      "5.0": { by, mean: 9 },
      "6.0": { by, mean: 9 },
    });
    expect([...(await at(5, state)).kept!]).toEqual([0, 1, 2]);
  });

  it("remembers nothing of a step whose values were not usable", async () => {
    const spoilt = fakeBatch({ rm_scores: [[Number.NaN], [2]] });
    const outcome = await run([rewardDifficulty, selector], spoilt, [], { settings: { on_nonfinite: "neutral" } });
    expect(outcome.remember).toBeUndefined();
  });

  it("may remember numbers only", async () => {
    const wrong = aboveLast(() => [["mean", Number.NaN]]);
    await expect(run([rewardDifficulty, wrong], batch)).rejects.toMatchObject({ code: "COMPONENT" });
  });

  it("says in the catalogue that it remembers; others do not", async () => {
    expect(toEntry(selector).remembers).toBe(true);
    expect(toEntry(thresholdBand).remembers).toBeUndefined();
    expect((await run([rewardDifficulty, thresholdBand], batch)).remember).toBeUndefined();
  });
});

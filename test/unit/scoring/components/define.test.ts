import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineReweighter, defineScorer, defineSelector } from "../../../../src/scoring/components/define.js";
import { unionNeeds } from "../../../../src/scoring/components/needs.js";
import { fakeBatch, run } from "../../../../src/testing.js";

const params = z.strictObject({});
const base = { timing: "post_reward", granularity: "response", params, score: () => [] } as const;

it("fills in kind, needs with scopes, and what the component must see together", () => {
  const scorer = defineScorer({
    ...base,
    name: "one",
    requires: ["rm_scores", "advantages", "uid", { name: "values", scope: "response" }],
  });
  expect(scorer).toMatchObject({
    kind: "scorer",
    rows: "batch",
    needs_groups: false,
    needs: [
      { name: "rm_scores", scope: "response" },
      { name: "advantages", scope: "mask" },
      { name: "uid" },
      { name: "values", scope: "response" },
    ],
  });
  expect(Object.isFrozen(scorer)).toBe(true);
});

describe("refuses a definition that cannot work", () => {
  it.each<[string, () => unknown]>([
    ["a name that is not one", () => defineScorer({ ...base, name: "Not A Name" })],
    ["parameters that would take anything", () => defineScorer({ ...base, name: "one", params: z.object({}) })],
    ["groups without uid", () => defineScorer({ ...base, name: "one", needs_groups: true })],
  ])("%s", (_what, define) => {
    expect(define).toThrow(expect.objectContaining({ code: "COMPONENT" }));
  });
});

it("takes the wider of two scopes", () => {
  const mask = { name: "values", scope: "mask" } as const;
  const response = { name: "values", scope: "response" } as const;
  expect(unionNeeds([mask], [response, { name: "uid" }])).toEqual([response, { name: "uid" }]);
  expect(unionNeeds([response], [mask])).toEqual([response]);
});

it.each(["row", "prompt", "response", "token"] as const)(
  "takes granularity %s and keeps row or token",
  (granularity) => {
    expect(defineScorer({ ...base, name: "mine", granularity }).granularity).toBe(
      granularity === "token" ? "token" : "row",
    );
  },
);

/** The four components of the design, as an author would write them: that they compile is half of the test. */
const groupSolveRate = defineScorer({
  name: "group_solve_rate",
  requires: ["rm_scores", "response_mask", "uid"],
  timing: "post_reward",
  granularity: "prompt",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({ success_threshold: z.number().default(0.5), mask_reward: z.boolean().default(true) }),
  score(batch, { params }) {
    const reward = batch.field("rm_scores").sum({ over: params.mask_reward ? "mask" : "response" });
    return batch.groupBy("uid").mean(reward.gt(params.success_threshold));
  },
});
const thresholdBand = defineSelector({
  name: "threshold_band",
  accepts: "row",
  rows: "independent",
  params: z.strictObject({ low: z.number().default(0), high: z.number().default(1) }),
  act: (scores, _batch, { params: { low, high } }) => scores.gt(low).and(scores.lt(high)).nonzero(),
});
const softmax = defineReweighter({
  name: "softmax",
  accepts: "row",
  rows: "batch",
  params: z.strictObject({ temperature: z.number().positive().default(1) }),
  act: (scores, _batch, { params }) => scores.div(params.temperature).softmax(),
});
const advantageReweight = defineReweighter({
  name: "advantage_reweight",
  accepts: "token",
  rows: "independent",
  params: z.strictObject({ alpha: z.number().min(0).max(1).default(0.5) }),
  act: (pi, _batch, { params: { alpha } }) => pi.mul(alpha).add(1 - alpha),
});

it("runs components as an author writes them", async () => {
  const batch = fakeBatch({ rm_scores: [[1], [0], [1]], uid: ["a", "a", "b"] });
  expect(await run(groupSolveRate, batch)).toEqual([0.5, 0.5, 1]);
  expect([...(await run([groupSolveRate, thresholdBand], batch)).kept!]).toEqual([0, 1]);
  expect((await run([groupSolveRate, softmax], batch)).stats?.mean).toBeCloseTo(1, 6);
  const tokens = await run(advantageReweight, batch, {}, { scores: [[1], [0], [1]] });
  expect(tokens.stats?.mean).toBeCloseTo(1, 6);
});

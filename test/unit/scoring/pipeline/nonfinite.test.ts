import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineScorer } from "../../../../src/scoring/components/define.js";
import { advantageReweight } from "../../../../src/scoring/components/reweighters/advantage-reweight.js";
import { softmax } from "../../../../src/scoring/components/reweighters/softmax.js";
import { advantageMagnitude } from "../../../../src/scoring/components/scorers/advantage-magnitude.js";
import { groupSolveRate } from "../../../../src/scoring/components/scorers/group-solve-rate.js";
import { tokenProb } from "../../../../src/scoring/components/scorers/token-prob.js";
import { thresholdBand } from "../../../../src/scoring/components/selectors/threshold-band.js";
import { ENCODE_AS } from "../../../../src/testing/encode-tokens.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";

const NAN = Number.NaN;
const broken = {
  advantages: [
    [1, 1],
    [1, NAN],
    [1, 1],
    [NAN, 1],
  ],
};

describe("error (the default) names field, rows and column", () => {
  it.each(ENCODE_AS)("encoded %s", async (encode) => {
    await expect(run([advantageMagnitude, softmax], fakeBatch(broken, { encode }))).rejects.toMatchObject({
      code: "NON_FINITE",
      message: expect.stringMatching(/field 'advantages' is NaN at row 1, column 1.*1, 3/),
      details: { row: 1, column: 1, rows: [1, 3], count: 2 },
    });
  });

  it.each([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("finds %s", async (value) => {
    const batch = fakeBatch({ advantages: [[value]] });
    await expect(run([advantageMagnitude, softmax], batch)).rejects.toMatchObject({ code: "NON_FINITE" });
  });

  it("scores beyond float32 would tie or miss their band: refused as well", async () => {
    const batch = fakeBatch({ advantages: [[1], [3e38, 3e38]] });
    await expect(run([advantageMagnitude, thresholdBand], batch, [{ agg: "sum" }])).rejects.toMatchObject({
      code: "NON_FINITE",
      message: expect.stringContaining("held in float32, is Infinity at row 1"),
    });
  });

  it("does not let max, clip or a comparison hide it", async () => {
    const hidden = [
      run([advantageMagnitude, softmax], fakeBatch(broken), [{ agg: "max" }]),
      run([tokenProb, advantageReweight], fakeBatch({ old_log_probs: broken.advantages })),
      run([groupSolveRate, thresholdBand], fakeBatch({ rm_scores: broken.advantages, uid: ["a", "a", "a", "a"] })),
    ];
    for (const outcome of await Promise.allSettled(hidden)) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "NON_FINITE" } });
    }
  });

  it("names the scorer when the field was fine and the score is not", async () => {
    const logReward = defineScorer({
      name: "log_reward",
      requires: ["advantages"],
      timing: "post_advantage",
      granularity: "response",
      params: z.strictObject({}),
      score: (batch) => batch.field("advantages").sum().log(),
    });
    await expect(run([logReward, softmax], fakeBatch({ advantages: [[1], [0]] }))).rejects.toMatchObject({
      code: "NON_FINITE",
      message: expect.stringContaining("score of 'log_reward' is -Infinity at row 1"),
    });
  });

  it("names the column of a token score", async () => {
    const logTokens = defineScorer({
      name: "log_tokens",
      requires: ["advantages", "response_mask"],
      timing: "post_advantage",
      granularity: "token",
      params: z.strictObject({}),
      score: (batch) => batch.field("advantages").log(),
    });
    const batch = fakeBatch({
      advantages: [
        [1, 9, 1],
        [1, -1, 0],
      ],
      response_mask: [
        [1, 0, 1],
        [1, 0, 1],
      ],
    });
    await expect(run([logTokens, advantageReweight], batch)).rejects.toMatchObject({
      code: "NON_FINITE",
      details: { row: 1, column: 2 },
    });
  });
});

it("never reads what stands under mask 0", async () => {
  const response_mask = [
    [1, 1],
    [1, 0],
    [1, 1],
    [0, 1],
  ];
  const spoilt = await run([advantageMagnitude, softmax], fakeBatch({ ...broken, response_mask }, { encode: "dense" }));
  const clean = {
    advantages: [
      [1, 1],
      [1, 0],
      [1, 1],
      [0, 1],
    ],
    response_mask,
  };
  const want = await run([advantageMagnitude, softmax], fakeBatch(clean, { encode: "dense" }));
  expect([...spoilt.weights.values]).toEqual([...want.weights.values]);
});

it("gives weight 1 to exp(200) under mask 0, not NaN", async () => {
  const batch = fakeBatch({ old_log_probs: [[0, 200]], response_mask: [[1, 0]] }, { encode: "dense" });
  const { weights } = await run([tokenProb, advantageReweight], batch, [{}, { alpha: 1 }], {
    settings: { normalize: "none" },
  });
  expect([...weights.values]).toEqual([1]);
});

describe("drop", () => {
  const settings = { on_nonfinite: "drop" } as const;

  it("takes the rows out of the live set: weight 0, no part in any normaliser", async () => {
    const outcome = await run([advantageMagnitude, softmax], fakeBatch(broken), [], { settings });
    expectClose(outcome.weights.values, [1, 0, 1, 0]);
    expect(outcome.stats?.n).toBe(2);
    expect([...outcome.dropped!]).toEqual([1, 3]);
    expect(outcome.metrics.rows_dropped_nonfinite).toBe(2);
    expect(outcome.warnings).toHaveLength(1);
  });

  it("does not let them spoil their group", async () => {
    const batch = fakeBatch({ rm_scores: [[1], [NAN], [0], [1]], uid: ["a", "a", "a", "a"] });
    const outcome = await run([groupSolveRate, thresholdBand], batch, [], { settings });
    expect([...outcome.kept!]).toEqual([0, 2, 3]);
    expect(outcome.score_stats?.mean).toBeCloseTo(2 / 3, 12);
  });

  it("ends with all zeros when every row is bad", async () => {
    const outcome = await run([advantageMagnitude, softmax], fakeBatch({ advantages: [[NAN], [NAN]] }), [], {
      settings,
    });
    expect([...outcome.weights.values]).toEqual([0, 0]);
    expect([...outcome.dropped!]).toEqual([0, 1]);
    expect(outcome.flags).toEqual(["no_live_rows"]);
  });
});

it("neutral: weight 1 for every live row, flagged", async () => {
  const batch = fakeBatch(broken, { is_padding: [true, false, false, false] });
  const outcome = await run([advantageMagnitude, softmax], batch, [], { settings: { on_nonfinite: "neutral" } });
  expect([...outcome.weights.values]).toEqual([0, 1, 1, 1]);
  expect(outcome.flags).toEqual(["neutral_nonfinite"]);
  expect(outcome.dropped).toBeUndefined();
  expect(outcome.warnings[0]).toContain("on_nonfinite");
});

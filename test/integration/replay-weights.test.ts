import { describe, expect, test } from "vitest";
import { expectClose } from "../helpers/close.js";
import { fixtureF, recordedF } from "../helpers/fixture-f.js";
import { block, replays, rowsOf } from "../helpers/replays.js";

/** The catalogue's numbers for scorers and reweighters, through real Redis, broker and worker. */
const replay = replays();

/** A float32 weight is right to 6e-8 of itself, so is its logarithm in absolute terms; two of them enter a score. */
const LOG_TOLERANCE = 2e-6;

/** Scores, read off unnormalised softmax weights: their logarithms, up to one constant, which `first` fixes. */
async function scoresOf(step: unknown, scorer: readonly [string, object?], first: number): Promise<number[]> {
  const weights = await replay.weights(step, block("reweight", scorer, ["softmax"], { normalize: "none" }));
  return weights.map((w) => Math.log(w) - Math.log(weights[0]!) + first);
}

describe("scorers", () => {
  test("advantage_magnitude: mean, sum and max over the tokens", async () => {
    const size = fixtureF.advantages.map(Math.abs);
    const sums = [3.464096, 2.598072, 1.732048, 3.464096, 0.499999, 1.499997, 1.999996, 2.999994];
    expectClose(await scoresOf(recordedF(), ["advantage_magnitude"], size[0]!), size, LOG_TOLERANCE);
    expectClose(await scoresOf(recordedF(), ["advantage_magnitude", { agg: "max" }], size[0]!), size, LOG_TOLERANCE);
    expectClose(await scoresOf(recordedF(), ["advantage_magnitude", { agg: "sum" }], sums[0]!), sums, LOG_TOLERANCE);
  });

  test("a fully masked row scores nothing, weighs nothing and counts for nothing, whatever its advantages", async () => {
    const step = recordedF();
    for (const [name, values] of Object.entries(step.fields)) values.push([name === "advantages" ? 50 : 0]);
    const got = await replay.weights(
      { ...step, uid: [...step.uid, "c"] },
      block("reweight", ["advantage_magnitude"], ["softmax"]),
    );
    expectClose(got, [1.004326, 1.004326, 1.004326, 1.004326, 0.696485, 0.696485, 0.696485, 1.89324, 0]);
  });

  test("reward_difficulty and group_solve_rate", async () => {
    expectClose(await scoresOf(recordedF(), ["reward_difficulty"], 1), fixtureF.rewards, LOG_TOLERANCE);
    expectClose(
      await scoresOf(recordedF(), ["group_solve_rate"], 0.5),
      [0.5, 0.5, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75],
      LOG_TOLERANCE,
    );
  });

  test("token_prob: the tokens' probabilities", async () => {
    const weights = await replay.answer(
      recordedF(),
      block("reweight", ["token_prob"], ["advantage_reweight", { alpha: 1 }], { normalize: "none" }),
    );
    const got: readonly (readonly number[])[] = weights.pipelines[0]!.weights;
    expect(got.map((row) => row.length)).toEqual(fixtureF.lengths);
    expectClose(got.flat(), fixtureF.probabilities.flat());
  });

  test("a reward on a masked last token: lost and warned about, or kept on request", async () => {
    const step = {
      fields: {
        rm_scores: [
          [0, 0, 1],
          [0, 0, 0.5],
        ],
        response_mask: [
          [1, 1, 0],
          [1, 1, 1],
        ],
      },
    };
    const masked = await replay.answer(
      step,
      block("select", ["reward_difficulty"], ["topk_fraction", { fraction: 0.5 }]),
    );
    expect(masked.pipelines[0]!.kept).toEqual([1]);
    expect(masked.pipelines[0]!.warnings.join()).toMatch(/mask_reward/);
    const all = await replay.answer(
      step,
      block("select", ["reward_difficulty", { mask_reward: false }], ["topk_fraction", { fraction: 0.5 }]),
    );
    expect(all.pipelines[0]!.kept).toEqual([0]);
  });
});

describe("softmax", () => {
  const logs = rowsOf([1, 2, 3, 4].map(Math.log));
  test.each([
    [1, [0.4, 0.8, 1.2, 1.6]],
    [0.5, [0.133333, 0.533333, 1.2, 2.133333]],
    [2, [0.650802, 0.920373, 1.127222, 1.301604]],
  ])("ln 1 … ln 4 at temperature %d", async (temperature, want) => {
    expectClose(
      await replay.weights(logs, block("reweight", ["reward_difficulty"], ["softmax", { temperature }])),
      want,
    );
  });

  test("fixture F: mean one over rows, or over tokens", async () => {
    const softmax = (normalize?: string): object =>
      block("reweight", ["advantage_magnitude"], ["softmax"], normalize ? { normalize } : {});
    const [a, b, c] = [1.004326, 0.696485, 1.89324];
    expectClose(await replay.weights(recordedF(), softmax()), [a, a, a, a, b, b, b, c]);
    const [d, e, f] = [1.030556, 0.714676, 1.942686];
    expectClose(await replay.weights(recordedF(), softmax("token")), [d, d, d, d, e, e, e, f]);
  });

  test("padding rows count nowhere and get weight 0", async () => {
    const step = recordedF();
    for (const values of Object.values(step.fields)) values.push([0], [0]);
    const padded = {
      ...step,
      uid: [...step.uid, "pad", "pad"],
      is_padding: [...step.uid.map(() => false), true, true],
    };
    const [a, b, c] = [1.004326, 0.696485, 1.89324];
    expectClose(await replay.weights(padded, block("reweight", ["advantage_magnitude"], ["softmax"])), [
      a,
      a,
      a,
      a,
      b,
      b,
      b,
      c,
      0,
      0,
    ]);
  });
});

test("advantage_reweight on fixture F", async () => {
  const want = [
    1.252149, 0.988539, 0.790831, 0.922636, 1.186246, 0.724928, 1.054441, 0.988539, 0.988539, 0.823782, 1.153295,
    0.988539, 1.318052, 0.856734, 1.054441, 1.252149, 0.856734, 0.790831, 0.922636, 1.186246, 1.054441, 1.120344,
    0.724928,
  ];
  expectClose(await replay.weights(recordedF(), block("reweight", ["token_prob"], ["advantage_reweight"])), want);
});

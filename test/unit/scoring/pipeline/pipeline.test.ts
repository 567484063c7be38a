import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineReweighter, defineScorer } from "../../../../src/scoring/components/define.js";
import { advantageReweight } from "../../../../src/scoring/components/reweighters/advantage-reweight.js";
import { softmax } from "../../../../src/scoring/components/reweighters/softmax.js";
import { advantageMagnitude } from "../../../../src/scoring/components/scorers/advantage-magnitude.js";
import { groupSolveRate } from "../../../../src/scoring/components/scorers/group-solve-rate.js";
import { tokenProb } from "../../../../src/scoring/components/scorers/token-prob.js";
import { thresholdBand } from "../../../../src/scoring/components/selectors/threshold-band.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

const none = z.strictObject({});
const scorerOf = (
  score: (...args: Parameters<typeof tokenProb.score>) => unknown,
  granularity: "response" | "token" = "response",
) =>
  defineScorer({
    name: "mine",
    requires: ["advantages", "response_mask"],
    timing: "post_advantage",
    granularity,
    params: none,
    score: score as typeof tokenProb.score,
  });
const reweighterOf = (act: (...args: Parameters<typeof softmax.act>) => unknown) =>
  defineReweighter({ name: "mine", accepts: "row", params: none, act: act as never });

it("reports scores, weights and what happened", async () => {
  const outcome = await run([advantageMagnitude, softmax], batchF());
  expect(outcome.granularity).toBe("row");
  expect(outcome.score_stats?.n).toBe(8);
  expect(outcome.score_stats?.mean).toBeCloseTo((4 * 0.8660239 + 3 * 0.499999 + 1.499997) / 8, 12);
  expect(outcome).toMatchObject({ flags: [], warnings: [], metrics: {} });
  expect(outcome.weights.values).toBeInstanceOf(Float32Array);
});

it("never mixes the order of rows: permuted rows give permuted weights", async () => {
  const scores = [4, 1, 3, 2];
  const order = [2, 0, 3, 1];
  const batch = fakeBatch({ values: [[0], [0], [0], [0]] });
  const plain = (await run(softmax, batch, {}, { scores })).weights.values;
  const moved = (await run(softmax, batch, {}, { scores: order.map((i) => scores[i]!) })).weights.values;
  expectClose(
    moved,
    order.map((i) => plain[i]!),
    1e-7,
  );
});

it("gives padding rows no tokens, whatever their mask says", async () => {
  const fields = { old_log_probs: [[-1, -1], [-2, -2], [-3]], response_mask: [[1, 1], [1, 1], [1]] };
  for (const encode of ["jagged", "dense", "compact"] as const) {
    const batch = fakeBatch(fields, { encode, is_padding: [false, true, false] });
    const { weights } = await run([tokenProb, advantageReweight], batch, [{}, { alpha: 1 }], {
      settings: { normalize: "none" },
    });
    expectClose(weights.values, [-1, -1, -3].map(Math.exp));
    expect(weights).toMatchObject({ kind: "token", offsets: Int32Array.from([0, 2, 2, 3]) });
  }
});

it("does not let padding dilute a statistic: perplexity of log-probability -2 stays e²", async () => {
  const batch = fakeBatch(
    {
      old_log_probs: [
        [-2, -2],
        [0, 0],
        [0, 0],
        [0, 0],
      ],
      response_mask: [
        [1, 1],
        [0, 0],
        [0, 0],
        [0, 0],
      ],
    },
    { is_padding: [false, true, true, true] },
  );
  expect(Math.exp(-batch.field("old_log_probs").mean().mean())).toBeCloseTo(7.389, 3);
});

it("sums a softmax over 100,000 equal scores to one", () => {
  const n = 100_000;
  const soft = fakeBatch({ turns: new Array<number>(n).fill(3) })
    .column("turns")
    .softmax();
  expect(Math.abs(soft.sum() - 1)).toBeLessThan(1e-9);
  const tenths = fakeBatch({ turns: new Array<number>(n).fill(0.1) }).column("turns");
  expect(Math.abs(tenths.mean() - 0.1)).toBeLessThan(1e-9);
});

describe("steps for which nothing runs", () => {
  const explode = scorerOf(() => {
    throw new Error("must not run");
  });

  it("before warmup_step: neutral, flagged", async () => {
    const options = { step: 4, settings: { warmup_step: 5 } };
    const outcome = await run([explode, softmax], batchF({ is_padding: [true] }), [], options);
    expect([...outcome.weights.values]).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
    expect(outcome.flags).toEqual(["warmup"]);
    await expect(run([explode, softmax], batchF(), [], { ...options, step: 5 })).rejects.toMatchObject({
      code: "COMPONENT",
    });
  });

  it("token weights are neutral over unmasked tokens", async () => {
    const outcome = await run([tokenProb, advantageReweight], batchF(), [], { step: 0, settings: { warmup_step: 1 } });
    expect([...outcome.weights.values]).toEqual(new Array(23).fill(1));
  });

  it("without live rows: all 0, no statistics, flagged", async () => {
    const batch = fakeBatch({ advantages: [[1], [1]], response_mask: [[0], [1]] }, { is_padding: [false, true] });
    const outcome = await run([explode, softmax], batch);
    expect([...outcome.weights.values]).toEqual([0, 0]);
    expect(outcome.flags).toEqual(["no_live_rows"]);
    expect(outcome.stats).toBeUndefined();
    expect((await run([explode, softmax], fakeBatch({ advantages: [] }))).weights.values).toHaveLength(0);
  });
});

describe("incomplete groups", () => {
  const three = fakeBatch({ rm_scores: [[1], [0], [1]], uid: ["A", "A", "A"], session: ["0", "1", "3"] });

  it("are refused, naming group, have and want", async () => {
    await expect(
      run([groupSolveRate, thresholdBand], three, [], { settings: { group_size: 4 } }),
    ).rejects.toMatchObject({
      code: "INCOMPLETE_GROUP",
      details: { uid: "A", have: 3, want: 4 },
    });
  });

  it("are scored as they are when asked, counted and warned about", async () => {
    const settings = { group_size: 4, on_incomplete_group: "score" } as const;
    const outcome = await run([groupSolveRate, thresholdBand], three, [], { settings });
    expect(outcome.score_stats?.mean).toBeCloseTo(2 / 3, 12);
    expect(outcome.metrics.incomplete_groups).toBe(1);
    expect(outcome.warnings[0]).toContain("incomplete");
  });

  it("count responses that arrived, masked or not, and no padding", async () => {
    const batch = fakeBatch(
      { rm_scores: [[1], [0], [0]], response_mask: [[1], [0], [1]], uid: ["A", "A", "pad"] },
      { is_padding: [false, false, true] },
    );
    const outcome = await run([groupSolveRate, thresholdBand], batch, [], { settings: { group_size: 2 } });
    expect(outcome.flags).toEqual(["empty_selection"]);
  });

  it("do not matter to components without groups", async () => {
    const outcome = await run([advantageMagnitude, softmax], batchF(), [], { settings: { group_size: 99 } });
    expect(outcome.flags).toEqual([]);
  });
});

describe("a component's mistakes end as COMPONENT errors that name it", () => {
  it.each<[string, (rows: number) => unknown]>([
    ["too few numbers", () => [1]],
    ["no numbers at all", () => "high"],
    ["nothing", () => undefined],
  ])("a score with %s", async (_what, answer) => {
    const scorer = scorerOf((batch) => answer(batch.rows));
    await expect(run(scorer, batchF())).rejects.toMatchObject({
      code: "COMPONENT",
      message: expect.stringContaining("scorer 'mine'"),
    });
  });

  it("a token field for a row score, and a row vector for a token score", async () => {
    await expect(
      run(
        scorerOf((batch) => batch.field("advantages")),
        batchF(),
      ),
    ).rejects.toThrow(/reduce it/);
    await expect(
      run(
        scorerOf((batch) => batch.field("advantages").sum(), "token"),
        batchF(),
      ),
    ).rejects.toThrow(/a token/);
  });

  it("a hole in an array is not 0", async () => {
    const scorer = scorerOf((batch) => Array.from({ length: batch.rows }, (_, i) => (i === 2 ? null : 1)));
    await expect(run(scorer, batchF())).rejects.toMatchObject({ code: "NON_FINITE", details: { row: 2 } });
  });

  it("an exception, kept as the cause", async () => {
    const cause = new TypeError("oh no");
    const scorer = scorerOf(() => {
      throw cause;
    });
    await expect(run(scorer, batchF())).rejects.toMatchObject({
      code: "COMPONENT",
      message: expect.stringMatching(/mine.*oh no/),
      cause,
    });
  });

  it.each([[-1], [Number.NaN], [Number.POSITIVE_INFINITY], [1e300]])("the weight %d", async (value) => {
    const reweighter = reweighterOf((scores) => scores.map((_, ...rest) => (rest.length === 0 ? value : 0)));
    const batch = fakeBatch({ values: [[0], [0]] });
    await expect(run(reweighter, batch, {}, { scores: [1, 1] })).rejects.toMatchObject({
      code: "COMPONENT",
      message: expect.stringContaining("reweighter 'mine'"),
    });
  });

  it("a negative token weight, with its column", async () => {
    const negative = defineReweighter({ name: "negative", accepts: "token", params: none, act: (s) => s.sub(1) });
    const batch = fakeBatch({
      response_mask: [
        [1, 0, 1],
        [1, 1, 1],
      ],
    });
    const scores = [
      [1, 2],
      [1, 1, 0],
    ];
    await expect(run(negative, batch, {}, { scores })).rejects.toMatchObject({
      code: "COMPONENT",
      details: { row: 1, column: 2, value: -1 },
    });
  });

  it("a field that was not declared", async () => {
    await expect(
      run(
        scorerOf((batch) => batch.field("old_log_probs").sum()),
        batchF(),
      ),
    ).rejects.toThrow(/requires/);
  });

  it("parameters that do not fit, as CONFIG", async () => {
    await expect(run(softmax, batchF(), { temprature: 1 }, { scores: [] })).rejects.toMatchObject({ code: "CONFIG" });
  });

  it("scores of another shape than the actuator takes", async () => {
    await expect(run([tokenProb, softmax], batchF())).rejects.toMatchObject({
      code: "COMPONENT",
      message: expect.stringMatching(/accepts row/),
    });
  });
});

describe("context", () => {
  it("draws the same numbers for the same step and pipeline, others for others", async () => {
    const random = scorerOf((batch, ctx) => Array.from({ length: batch.rows }, () => ctx.rng()));
    const draw = (options: object) => run(random, batchF(), {}, options);
    expect(await draw({ step: 3 })).toEqual(await draw({ step: 3 }));
    expect(await draw({ step: 3 })).not.toEqual(await draw({ step: 4 }));
    expect(await draw({ step: 3 })).not.toEqual(await draw({ step: 3, trigger: 1 }));
    expect(await draw({ step: 3 })).not.toEqual(await draw({ step: 3, settings: { name: "other" } }));
  });

  it("keeps warnings once and adds counts up, scorer's and actuator's together", async () => {
    const scorer = scorerOf((batch, ctx) => {
      ctx.warn("look");
      ctx.warn("look");
      ctx.count("seen", 2);
      return batch.field("advantages").sum();
    });
    const reweighter = reweighterOf((scores, _batch, ctx) => {
      ctx.warn("look");
      ctx.count("seen", 3);
      return scores.abs();
    });
    const outcome = await run([scorer, reweighter], batchF());
    expect(outcome.warnings).toEqual(["look"]);
    expect(outcome.metrics).toEqual({ seen: 5 });
  });
});

import type { MountOptions, Run, StepResult } from "dataflex-mq";
import { describe, expect, test } from "vitest";
import { parseNotice } from "../../src/broker/notice.js";
import { readOutcomes } from "../../src/client/outcomes.js";
import { runKeys } from "../../src/redis/keys.js";
import { parseEntries } from "../../src/redis/streams.js";
import { REWEIGHT, SELECT, softmaxWeights, TOKEN, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { fixtureF, recordedF } from "../helpers/fixture-f.js";
import { useSystem } from "../helpers/system.js";

/** Every setting of a pipeline and of a run, from the mount to the tensor that the loss multiplies in, on fixture F. */
const system = useSystem();
const { uid, ...recorded } = recordedF();
const fields = recorded.fields as Record<string, number[][]>;
const { lengths, advantages } = fixtureF;
const mask = fields.response_mask!;
const STEP = 7;
const KEEP_A = { ...SELECT, actuator: { name: "threshold_band", params: { low: 0.4, high: 0.6 } } };
/** Raw weights exp(A): whether they were normalised shows. */
const AWR = {
  mechanism: "reweight",
  scorer: { name: "signed_advantage" },
  actuator: { name: "awr", params: { standardize: false, beta: 1 } },
};
const soft = softmaxWeights(advantages);
const ones = (rows = 8) => Array.from({ length: rows }, () => 1);

type Fields = Parameters<Run["put"]>[2];
async function put(run: Run, step = STEP, more: Fields = {}): Promise<void> {
  for (const stage of ["post_reward", "post_advantage"] as const)
    await run.put(step, stage, { ...fields, uid, ...more });
}
/** The result of fixture F under a block. */
async function weigh(
  block: unknown,
  more: Partial<MountOptions> = {},
  step = STEP,
  given: Fields = {},
): Promise<StepResult> {
  const run = await system.mount(block, more);
  await put(run, step, given);
  return run.weights(step, { timeoutMs: 20_000 });
}
const close = (got: ArrayLike<number>, want: readonly number[]) => expect(worst(got, want)).toBeLessThan(2e-6);
const meanOver = (weights: ArrayLike<number>, counts: readonly number[]) =>
  counts.reduce((sum, n, i) => sum + n * weights[i]!, 0) / counts.reduce((a, b) => a + b, 0);
/** Values of a padded `(rows, L)` tensor, row by row, without what lies outside the mask. */
const perRow = (tensor: Float32Array, at = lengths) => {
  const width = tensor.length / at.length;
  return at.map((n, i) => Array.from(tensor.slice(i * width, i * width + n)));
};
const broken = (rows: readonly number[]) =>
  fields.advantages!.map((row, i) => (rows.includes(i) ? row.map(() => Number.NaN) : row));

describe("of a pipeline", () => {
  test("warmup_step: neutral before it, flagged; weights from it on", async () => {
    const run = await system.mount({ ...REWEIGHT, warmup_step: 8 });
    for (const step of [7, 8]) await put(run, step);
    const [before] = (await run.weights(7)).pipelines;
    expect(Array.from(before!.weights)).toEqual(ones());
    expect(before!.flags).toEqual(["warmup"]);
    const [after] = (await run.weights(8)).pipelines;
    close(after!.weights, soft);
    expect(after!.flags).toEqual([]);
  });

  test.each([
    ["none", undefined, "none"],
    ["row", undefined, "row"],
    ["token", undefined, "token"],
    ["auto", { loss_mode: "gspo", loss_agg_mode: "token-mean" }, "row"],
    ["auto", { loss_mode: "vanilla", loss_agg_mode: "token-mean" }, "token"],
    ["auto", undefined, "row"],
    [null, { loss_agg_mode: "token-mean" }, "row"],
  ] as const)("normalize %s of row weights under %j is %s", async (normalize, trainer, level) => {
    const run = await system.mount({ ...AWR, normalize }, trainer ? { trainer } : {});
    expect(run.handle.pipelines[0]?.normalize).toBe(level);
    expect(run.handle.warnings.some((w) => w.includes("normalize auto"))).toBe(normalize === "auto" && !trainer);
    await put(run);
    const { weights } = (await run.weights(STEP)).pipelines[0]!;
    const raw = advantages.map((a) => Math.exp(a));
    const by = { none: 1, row: 1 / meanOver(raw, ones()), token: 1 / meanOver(raw, lengths) }[level];
    close(
      weights,
      raw.map((w) => w * by),
    );
  });

  test.each(["none", "row", "token"] as const)("normalize %s of token weights", async (normalize) => {
    const [p] = (await weigh({ ...TOKEN, normalize })).pipelines;
    const raw = fixtureF.probabilities.map((row) => row.map((pi) => 0.5 + 0.5 * pi));
    const means = raw.map((row) => row.reduce((a, b) => a + b) / row.length);
    const by = { none: 1, row: 1 / meanOver(means, ones()), token: 1 / meanOver(means, lengths) }[normalize];
    close(
      perRow(p!.weights).flat(),
      raw.flat().map((w) => w * by),
    );
  });

  test("on_nonfinite error names row and column and is no service failure", async () => {
    const error = await rejection(
      weigh({ ...REWEIGHT, on_unavailable: "neutral" }, {}, STEP, { advantages: broken([2]) }),
    );
    expect(error).toMatchObject({ code: "NON_FINITE", message: expect.stringMatching(/row 2, column 0/) });
  });

  test("on_nonfinite neutral: weight 1 for the whole step, flagged", async () => {
    const [p] = (await weigh({ ...REWEIGHT, on_nonfinite: "neutral" }, {}, STEP, { advantages: broken([2]) }))
      .pipelines;
    expect(Array.from(p!.weights)).toEqual(ones());
    expect(p!.flags).toEqual(["neutral_nonfinite"]);
    expect(p!.dropped).toBeUndefined();
  });

  test("on_nonfinite drop: the row leaves the live set, here and when its weights are composed with others'", async () => {
    const block = { pipelines: { weigh: { ...REWEIGHT, on_nonfinite: "drop" }, keep: KEEP_A }, rescale: "row" };
    const result = await weigh(block, {}, STEP, { advantages: broken([1, 6]) });
    const [weighed] = result.pipelines;
    expect(Array.from(weighed!.dropped!)).toEqual([1, 6]);
    const rest = advantages.filter((_, i) => i !== 1 && i !== 6);
    const left = softmaxWeights(rest);
    close(weighed!.weights, [left[0]!, 0, left[1]!, left[2]!, left[3]!, left[4]!, 0, left[5]!]);
    expect(weighed!.stats).toMatchObject({ n: 6 });
    // Rows 0, 2 and 3 are kept, of six live ones: with eight the mean would be 8/6 of this.
    const scale = 6 / (left[0]! + left[1]! + left[2]!);
    close(result.combined.weights, [left[0]! * scale, 0, left[1]! * scale, left[2]! * scale, 0, 0, 0, 0]);
    expect(result.statistics).toMatchObject({ stats: { n: 6, kept_ratio: 0.5 }, product: { n: 6 } });
  });

  test("on_nonfinite drop: what the loss's mask has in a dropped row was scored by nobody and weighs 0", async () => {
    const old_log_probs = fields.old_log_probs!.map((row, i) => (i === 4 ? [Number.NaN] : row));
    const block = { ...TOKEN, on_nonfinite: "drop", normalize: "none", rescale: "token" };
    const result = await weigh(block, {}, STEP, { old_log_probs });
    const loss = mask.map((row, i) => (i === 4 ? [1, 1, 1, 1] : row));
    const rows = perRow(result.rolloutIsWeights(loss), [...lengths.slice(0, 4), 4, ...lengths.slice(5)]);
    expect(rows[4]).toEqual([0, 0, 0, 0]);
    expect(rows.flat().reduce((a, b) => a + b)).toBeCloseTo(22, 4);
    // In a row that was scored, such a token is still refused.
    const longer = mask.map((row, i) => (i === 2 ? [1, 1, 1] : row));
    expect(() => result.rolloutIsWeights(longer)).toThrow(/row 2, column 2/);
  });

  test.each([
    ["drop_all", 0],
    ["keep_all", 1],
  ] as const)("on_empty %s", async (on_empty, weight) => {
    const nothing = { ...SELECT, actuator: { name: "threshold_band", params: { low: 0.9, high: 1 } } };
    const [p] = (await weigh({ ...nothing, on_empty })).pipelines;
    expect(Array.from(p!.weights)).toEqual(ones().map(() => weight));
    expect(p!.flags).toEqual(["empty_selection"]);
    expect(p!.warnings).toContainEqual(expect.stringContaining(`on_empty: ${on_empty}`));
  });

  test("on_empty error", async () => {
    const nothing = {
      ...SELECT,
      actuator: { name: "threshold_band", params: { low: 0.9, high: 1 } },
      on_empty: "error",
    };
    expect(await rejection(weigh(nothing))).toMatchObject({ code: "EMPTY_SELECTION" });
  });

  test("on_incomplete_group error names the group; score counts it", async () => {
    expect(await rejection(weigh(KEEP_A, { group_size: 5 }))).toMatchObject({
      code: "INCOMPLETE_GROUP",
      message: expect.stringMatching(/group 'a' has 4 of 5/),
    });
    const [p] = (await weigh({ ...KEEP_A, on_incomplete_group: "score" }, { group_size: 5 })).pipelines;
    expect(Array.from(p!.weights)).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
    expect(p!.metrics.incomplete_groups).toBe(2);
  });

  test("shadow: computed and settled, never delivered, in no product", async () => {
    const run = await system.mount({ pipelines: { weigh: REWEIGHT, keep: { ...KEEP_A, shadow: true } } });
    await put(run);
    const result = await run.weights(STEP);
    expect(result.pipelines.map((p) => p.name)).toEqual(["weigh"]);
    close(result.combined.weights, soft);
    const { out } = runKeys(run.handle.run).step(run.handle.incarnation, `${STEP}.0`);
    const settled = await eventually(
      async () => {
        const entries = await readOutcomes(system.redis.raw, out, "0", 0);
        return entries.length === 2 && entries.map((e) => String(e.fields.pipeline)).sort();
      },
      { what: "the shadow's outcome" },
    );
    expect(settled).toEqual(["keep", "weigh"]);
  });
});

describe("of a run", () => {
  const pipelines = { keep: KEEP_A, weigh: REWEIGHT };
  const existing = Float32Array.from({ length: 32 }, (_, k) => 1 + (k % 4) / 4);

  test.each([
    ["none", 1.004326],
    ["row", 2],
    ["token", 1.769231],
  ] as const)("rescale %s", async (rescale, weight) => {
    const { combined } = await weigh({ pipelines, rescale });
    close(combined.weights, [weight, weight, weight, weight, 0, 0, 0, 0]);
  });

  test("clip moves weights above 0 only, before they are rescaled, and is reported", async () => {
    const result = await weigh({ pipelines, clip: [1.5, 3], rescale: "token" });
    // 1.004326 → 1.5, then 13 of 23 live tokens carry it: 23 / 13 whatever it was; 0 stays 0.
    close(result.combined.weights, [23 / 13, 23 / 13, 23 / 13, 23 / 13, 0, 0, 0, 0]);
    expect(result.statistics?.clipped).toEqual({ low: 0.5, high: 0 });
    const upper = await weigh({ ...REWEIGHT, clip: [0, 1.5] });
    close(
      upper.combined.weights,
      soft.map((w) => Math.min(w, 1.5)),
    );
    expect(upper.statistics?.clipped).toEqual({ low: 0, high: 1 / 8 });
  });

  test.each(["multiply", "replace"] as const)(
    "combine %s with weights that the trainer has, never renormalised",
    async (combine) => {
      const result = await weigh({ pipelines, combine, rescale: "row" });
      const got = perRow(result.rolloutIsWeights(mask, existing));
      const own = combine === "multiply" ? [1, 1.25, 1.5, 1.75] : [1, 1, 1, 1];
      close(
        got.flat(),
        lengths.flatMap((n, i) => own.slice(0, n).map((x) => (i < 4 ? 2 * x : 0))),
      );
    },
  );

  test("the loss's mask comes before clip and rescale: what rejection took is in no mean", async () => {
    const result = await weigh({ ...TOKEN, normalize: "none", rescale: "token", clip: [0.6, 10] });
    const loss = mask.map((row, i) => (i < 2 ? row : row.map(() => 0)));
    const [a, b] = perRow(result.rolloutIsWeights(loss));
    const raw = fixtureF.probabilities
      .slice(0, 2)
      .flat()
      .map((pi) => Math.max(0.6, 0.5 + 0.5 * pi));
    const scale = raw.length / raw.reduce((x, y) => x + y);
    close(
      [...a!, ...b!],
      raw.map((w) => w * scale),
    );
    expect(result.statistics).toMatchObject({ level: "token", stats: { n: 7 }, product: { n: 23 } });
  });

  test("statistics of each pipeline, of their product and of what went to the loss; the release reports them", async () => {
    const run = await system.mount({ pipelines, clip: [0, 1.5], rescale: "row" });
    await put(run);
    const result = await run.weights(STEP);
    const [keep, weighed] = result.pipelines;
    expect(keep!.stats).toMatchObject({ n: 8, mean: 0.5, kept_ratio: 0.5 });
    expect(weighed!.stats!.mean).toBeCloseTo(1, 6);
    result.rolloutIsWeights(mask);
    const { statistics } = result;
    expect(statistics!.product!.mean).toBeCloseTo(1.004326 / 2, 6);
    expect(statistics!.stats).toMatchObject({ n: 8, max: 2, kept_ratio: 0.5, zero_ratio: 0.5, ess_ratio: 0.5 });
    await run.release(STEP);
    const entries = parseEntries(
      await system.redis.raw.xrevrangeBuffer(runKeys(run.handle.run).notices, "+", "-", "COUNT", 20),
    );
    const reported = entries.map(parseNotice).find((n) => n?.kind === "released" && n.run === run.handle.run);
    expect(reported).toMatchObject({ combined: statistics });
  });

  test.each(["error", "neutral"] as const)("max_wait_ms, then on_unavailable %s", async (on_unavailable) => {
    const run = await system.mount({ ...REWEIGHT, max_wait_ms: 200, on_unavailable });
    await run.put(STEP, "post_advantage", { response_mask: mask });
    const started = performance.now();
    if (on_unavailable === "error") {
      expect(await rejection(run.weights(STEP))).toMatchObject({
        code: "TIMEOUT",
        message: expect.stringMatching(/within 200 ms[\s\S]*advantages/),
      });
    } else {
      const result = await run.weights(STEP);
      expect(result.neutral).toMatchObject({ code: "TIMEOUT" });
      expect(result.statistics).toBeUndefined();
      const own = perRow(result.rolloutIsWeights(mask, existing));
      expect(own.flat()).toEqual(lengths.flatMap((n) => [1, 1.25, 1.5, 1.75].slice(0, n)));
      expect(perRow(result.rolloutIsWeights(mask)).flat()).toEqual(ones(23));
    }
    expect(performance.now() - started).toBeGreaterThan(150);
  });

  test("a trainer whose loss cannot use weights is refused at mount, with every reason", async () => {
    const trainer = { loss_mode: "bypass_mode", use_pf_ppo: true, verl: "0.8.0" };
    const error = await rejection(system.mount(REWEIGHT, { trainer }));
    expect(error).toMatchObject({
      code: "CONFIG",
      message: expect.stringMatching(/policy_loss\.loss_mode[\s\S]*algorithm\.use_pf_ppo/),
    });
  });
});

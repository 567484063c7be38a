import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Drops a few of the tokens whose update would lower the policy's entropy most.
 *
 * Of the unmasked tokens with low < s[i,t] < high, k = max(1, ⌊ratio · n⌋) are drawn at random and dropped, n all unmasked tokens; all of them
 * if there are no more. `(rows, L)` → 0/1 mask `(rows, L)`. Compared as float32. Seeded by run, step, trigger and pipeline.
 *
 * Example: s = [[0.5, 2, 7], [3, 0, 0]], ratio 1 → the tokens with 2 and 3 are dropped.
 * Source: arXiv 2505.22617; verl clip_cov.
 */
export const clipCov = defineSelector({
  name: "clip_cov",
  accepts: "token",
  rows: "batch",
  params: z.strictObject({
    ratio: z.number().gt(0).max(1).default(0.0002),
    low: z.number().default(1),
    high: z.number().default(5),
  }),
  rules: [{ rule: "less", params: ["low", "high"] }],
  doc: {
    summary: "Drops a few randomly drawn tokens of those that would lower entropy most.",
    formula:
      "k = max(1, floor(ratio n)) tokens, drawn from those with low < s[i,t] < high, are dropped; n: unmasked tokens",
    score: "the token's part in the covariance of advantage and log-prob (advantage_cov)",
    edges: [
      "no token within the bounds: every token is kept",
      "at least one token is dropped where any is eligible, however small ratio n",
      "bounds are strict, compared as float32",
      "the draw is seeded by run, step, trigger and pipeline, in the order of rows: a step that is scored again draws the same",
      "eligible and dropped tokens are counted (tokens_eligible, tokens_dropped)",
      "geo_mean losses collapse on rows with a zero weight: not for them",
    ],
    params: {
      ratio: "share of all unmasked tokens to drop, in (0, 1]",
      low: "covariance above which a token may be dropped",
      high: "covariance below which a token may be dropped: larger ones are taken for outliers",
    },
    source: {
      ref: "arXiv 2505.22617; verl core_algos.py clip_cov (clip_cov_ratio 0.0002, clip_cov_lb 1, clip_cov_ub 5)",
      verified: "verl's code read",
      differs:
        "verl does it inside the loss, with the current log-probs of each micro-batch, and never drops a token that the ratio's clip silences anyway",
    },
  },
  act(covariance, batch, { params: { ratio, low, high }, rng, count }) {
    const values = covariance.toArray();
    const [from, to] = [Math.fround(low), Math.fround(high)];
    const eligible: number[] = [];
    for (let row = 0; row < batch.rows; row++) {
      for (let k = batch.tokenStarts[row]!; batch.live[row] === 1 && k < batch.tokenStarts[row + 1]!; k++) {
        const value = Math.fround(values[k]!);
        if (value > from && value < to) eligible.push(k);
      }
    }
    const tokens = covariance.count().sum();
    const dropped = Math.min(Math.max(1, Math.floor(ratio * tokens)), eligible.length);
    count("tokens_eligible", eligible.length);
    count("tokens_dropped", dropped);
    const kept = values.fill(1);
    for (let k = 0; k < dropped; k++) {
      const drawn = k + Math.floor(rng() * (eligible.length - k));
      [eligible[k], eligible[drawn]] = [eligible[drawn]!, eligible[k]!];
      kept[eligible[k]!] = 0;
    }
    return batch.tokens(kept);
  },
});

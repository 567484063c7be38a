import { z } from "zod";
import type { Batch } from "../../batch/batch.js";
import { defineSelector } from "../define.js";

/**
 * Drops the tokens that the policies disagree about most, as few as bring the second moment of the log ratios below a threshold.
 *
 * m2 = (ln s[i,t])². Over all unmasked tokens of the batch: the largest m2 are dropped until the mean of the others is below `threshold`;
 * one token always stays. `(rows, L)` → 0/1 mask `(rows, L)`. The mean is compared as float32; of equal m2 the later token goes first.
 *
 * Example: log ratios 0.1, 0.2, 1 (m2 0.01, 0.04, 1), threshold 0.04 → mean 0.35, without the last 0.025: 1, 1, 0.
 * Source: arXiv 2510.01161; AReaL.
 */
export const m2po = defineSelector({
  name: "m2po",
  accepts: "token",
  rows: "batch",
  params: z.strictObject({ threshold: z.number().positive() }),
  doc: {
    summary: "Drops the tokens of largest squared log ratio until the mean of the others is below a threshold.",
    formula:
      "m2[i,t] = (ln s[i,t])^2; over all unmasked tokens drop the largest until mean(m2 of the others) < threshold; at least one stays",
    score: "the token ratio (is_ratio)",
    edges: [
      "a mean below the threshold from the start: every token is kept",
      "equal m2: the later token is dropped first; the mean is compared as float32",
      "all equal and not below the threshold: only the first token stays; a lone token always stays",
      "kept tokens weigh 1, so a token mean divides by all tokens, as in the paper; the run's rescale: token divides by the kept ones",
      "geo_mean losses collapse on rows with a zero weight: not for them",
    ],
    params: { threshold: "bound of the mean squared log ratio, > 0; required: the source has it off by default" },
    source: {
      ref: "arXiv 2510.01161; AReaL trainer/ppo/actor.py (m2_threshold)",
      verified: "AReaL's code and page read, the paper itself not",
      differs:
        "AReaL applies the bound to each micro-batch, here it applies to the step; which of equal tokens is dropped is undefined there",
    },
  },
  act(ratio, batch, { params: { threshold } }) {
    const moments = ratio.log().square().toArray();
    const tokens = liveTokens(batch, moments.length);
    const ascending = Float64Array.from(tokens, (token) => moments[token]!).sort();
    const count = keptCount(ascending, threshold);
    // The largest that stays; of those equal to it the first ones, so many as are needed.
    const last = ascending[count - 1] ?? 0;
    let equal = count - ascending.indexOf(last);
    const kept = new Float64Array(moments.length);
    for (const token of tokens) {
      const value = moments[token]!;
      if (value < last || (value === last && equal-- > 0)) kept[token] = 1;
    }
    return batch.tokens(kept);
  },
});

/** Places of the live rows' tokens among all. */
function liveTokens({ rows, live, tokenStarts }: Batch, size: number): Int32Array {
  const tokens = new Int32Array(size);
  let n = 0;
  for (let row = 0; row < rows; row++) {
    if (live[row] !== 1) continue;
    for (let token = tokenStarts[row]!; token < tokenStarts[row + 1]!; token++) tokens[n++] = token;
  }
  return tokens.subarray(0, n);
}

/** How many of the ascending values there are before their mean reaches the threshold, at least one if there is any. */
function keptCount(ascending: Float64Array, threshold: number): number {
  let sum = 0;
  let kept = Math.min(1, ascending.length);
  for (const [k, value] of ascending.entries()) {
    sum += value;
    if (Math.fround(sum / (k + 1)) < Math.fround(threshold)) kept = k + 1;
  }
  return kept;
}

import { z } from "zod";
import type { Batch } from "../../batch/batch.js";
import { defineReweighter } from "../define.js";
import { MASK_REWARD_DOC, maskReward, outcomeReward } from "../scorers/outcome-reward.js";

/** A token of entropy 0 in a wrong answer would have infinite 1/H; the reference implementation's floor. */
const ENTROPY_FLOOR = 1e-8;

/**
 * Credit within a prompt's responses by entropy: in right answers to the uncertain tokens, in wrong ones to the certain.
 *
 * At each position t, over the group's right answers with an unmasked token there (d of them): w[i,t] = a1 + a2 · d · H[i,t] / ΣH; over its
 * wrong answers (h of them): w[i,t] = a1 + a2 · h · (1/H[i,t]) / Σ(1/H). H = max(s, 1e-8), right means R > success_threshold with R as
 * in `reward_difficulty`. `(rows, L)` → `(rows, L)` in [a1, a1 + a2 · group size]. Alone at its position a token has a1 + a2.
 *
 * Example: two right answers, H at their first tokens .1 and .7, a1 1, a2 .1 → 1.025, 1.175.
 * Source: arXiv 2508.04349, eqs. of the shaped rewards.
 */
export const gtpo = defineReweighter({
  name: "gtpo",
  requires: ["rm_scores", "response_mask", "uid"],
  accepts: "token",
  needs_groups: true,
  rows: "group",
  positive: { param: "a1", above: 0 },
  params: z.strictObject({
    a1: z.number().min(0).default(1),
    a2: z.number().min(0).default(0.1),
    success_threshold: z.number().default(0.5),
    mask_reward: maskReward,
  }),
  doc: {
    summary: "More weight to uncertain tokens of right answers, and to certain tokens of wrong ones.",
    formula:
      "right answers of the group at position t, d of them: w[i,t] = a1 + a2 d H[i,t] / sum H\nwrong answers, h of them: w[i,t] = a1 + a2 h (1/H[i,t]) / sum (1/H)\nH = max(s, 1e-8); right: R > success_threshold",
    score: "the entropy H (token_entropy); the rewards are read as well",
    edges: [
      "positions count from the response's first token; a response without an unmasked token there takes no part",
      "a token alone at its position weighs a1 + a2, whatever its entropy",
      "a session of several rows takes part with each of them",
      "rows with reward outside the mask are counted (rows_reward_outside_mask) and warned about",
    ],
    params: {
      a1: "what every token weighs, ≥ 0",
      a2: "what is distributed by entropy, ≥ 0",
      success_threshold: "an answer is right when its reward is above this",
      mask_reward: MASK_REWARD_DOC,
    },
    source: {
      ref: "arXiv 2508.04349",
      verified:
        "a third-party implementation and its numeric tests read, fixture E11 recomputed; the paper's text was not checked",
      differs:
        "the paper shapes rewards of ±1 by these factors and standardises right and wrong answers separately; here they multiply the trainer's advantages",
    },
  },
  act(entropy, batch, ctx) {
    const { a1, a2, success_threshold } = ctx.params;
    const right = outcomeReward(batch, ctx).gt(success_threshold).values;
    const h = entropy.toArray().map((value) => Math.max(value, ENTROPY_FLOOR));
    const certainty = h.map((value) => 1 / value);
    const columns = batch.tokenColumns();
    const shares = new Float64Array(h.length);
    for (const members of batch.groupBy("uid").members()) {
      share(
        members.filter((i) => right[i] === 1),
        h,
        { batch, columns, shares },
      );
      share(
        members.filter((i) => right[i] !== 1),
        certainty,
        { batch, columns, shares },
      );
    }
    return batch.tokens(shares.map((value) => a1 + a2 * value));
  },
});

interface Shares {
  readonly batch: Batch;
  readonly columns: Int32Array;
  readonly shares: Float64Array;
}

/** Each token's value over the mean of the values at its position among `rows`, written into `shares`. */
function share(rows: Int32Array, values: Float64Array, { batch, columns, shares }: Shares): void {
  const { tokenStarts: starts, width } = batch;
  const present = new Float64Array(width);
  const total = new Float64Array(width);
  const each = (visit: (k: number, t: number) => void) => {
    for (const i of rows) for (let k = starts[i]!; k < starts[i + 1]!; k++) visit(k, columns[k]!);
  };
  each((k, t) => {
    present[t]! += 1;
    total[t]! += values[k]!;
  });
  each((k, t) => {
    shares[k] = (present[t]! * values[k]!) / total[t]!;
  });
}

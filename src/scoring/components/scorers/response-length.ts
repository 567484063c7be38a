import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * Length of the response in tokens.
 *
 * s_i = Σ_t m[i,t] (`count: mask`), or all response tokens, tool tokens too (`count: response`). `(rows, L)` → `(rows,)`, whole numbers ≥ 0.
 * A fully masked row gives 0 under `mask`. Where the trainer gave no lengths, `response` counts up to the last unmasked token.
 *
 * Example: mask = [[1, 0, 1, 0]] → mask 2, response 4.
 * Source: none; the length that Dr. GRPO, Delta-L and GFPO work with.
 */
export const responseLength = defineScorer({
  name: "response_length",
  requires: ["response_mask"],
  timing: "post_reward",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({ count: z.enum(["mask", "response"]).default("mask") }),
  doc: {
    summary: "Length of the response in tokens.",
    formula: "s_i = sum over t of m[i,t]",
    edges: [
      "with count: mask, a fully masked row scores 0",
      "with count: response, a row without lengths from the trainer counts up to its last unmasked token",
    ],
    params: { count: "mask: tokens with response_mask 1; response: every response token, tool tokens too" },
    source: { ref: "the length term of arXiv 2509.07558 and arXiv 2508.09726", verified: "fixture F recomputed" },
  },
  score: (batch, { params }) =>
    params.count === "mask" ? batch.field("response_mask").count() : batch.responseLength(),
});

import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * Whether the response was cut off at the length limit.
 *
 * s_i = 1 if the response has at least max_response_length tokens (tool tokens too), else 0. `(rows, L)` → `(rows,)`, 0 or 1.
 * The limit must be given: the widest response of a batch says nothing about it. Where the trainer gave no lengths, a response ends at
 * its last unmasked token.
 *
 * Example: lengths 4, 3, 8, limit 4 → 1, 0, 1.
 * Source: arXiv 2503.14476 (overlong filtering); TRL mask_truncated_completions.
 */
export const truncated = defineScorer({
  name: "truncated",
  requires: ["response_mask"],
  timing: "post_reward",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({ max_response_length: z.int().min(1) }),
  doc: {
    summary: "1 for responses cut off at the length limit, else 0.",
    formula: "s_i = [response length_i >= max_response_length]",
    edges: [
      "every response token counts, tool tokens too",
      "without lengths from the trainer a response ends at its last unmasked token",
      "a response that ends by itself exactly at the limit counts as cut off",
    ],
    params: { max_response_length: "the rollout's limit in tokens (verl: data.max_response_length); required" },
    source: {
      ref: "arXiv 2503.14476; TRL mask_truncated_completions",
      verified: "TRL's code read",
      differs: "TRL looks for an end-of-sequence token instead",
    },
  },
  score: (batch, { params }) => batch.responseLength().ge(params.max_response_length),
});

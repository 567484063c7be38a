import { z } from "zod";
import { defineReweighter } from "../define.js";

/**
 * No weight for responses that were cut off: their reward says nothing about the answer.
 *
 * w_i = 0 where s_i is not 0, else 1. `(rows,)` → `(rows,)`. All cut off → all 0, flagged as all_zero.
 *
 * Example: s = 0, 1, 0, 0 → after mean one 1.333333, 0, 1.333333, 1.333333.
 * Source: arXiv 2503.14476 (overlong filtering); TRL mask_truncated_completions.
 */
export const overlongFilter = defineReweighter({
  name: "overlong_filter",
  accepts: "row",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "No weight for responses that were cut off at the length limit.",
    formula: "w_i = [s_i = 0]",
    score: "1 for responses that were cut off, else 0 (truncated)",
    edges: [
      "all cut off: all weights are 0, flagged as all_zero",
      "default normalize: row makes the other rows as heavy as the whole step",
    ],
    source: {
      ref: "arXiv 2503.14476; TRL mask_truncated_completions",
      verified: "TRL's code read",
      differs:
        "TRL takes the rows out of the loss's mask: its denominators count the other rows only, which is normalize: row or token here",
    },
  },
  act: (truncated) => truncated.map((cut) => Number(cut === 0)),
});

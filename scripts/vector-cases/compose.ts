import type { ComposeCase } from "../../test/helpers/compose-format.js";

const SOFTMAX_F = [1.004326, 1.004326, 1.004326, 1.004326, 0.696485, 0.696485, 0.696485, 1.89324];
const MASK_F = ["1111", "1110", "1100", "1111", "1000", "1110", "1111", "1100"];
const KEEP_4 = [1, 1, 1, 1, 0, 0, 0, 0];
const HOLES = ["11011", "10100", "00000", "01110"];
const TOKENS = [0.5, 2, 1.25, 0.125, 3, 0.75, 1, 0, 4];
const plain = { combine: "multiply", rescale: "none" } as const;

/** Steps 1–5 of the composition; names say what a case is there for. */
export const COMPOSE_CASES: Readonly<Record<string, ComposeCase>> = {
  "select-times-softmax": {
    about: "Fixture F: rows 0-3 selected, times the row softmax of |advantage|.",
    composition: plain,
    scored: MASK_F,
    loss: MASK_F,
    weights: [{ rows: SOFTMAX_F }, { rows: KEEP_4 }],
  },
  "select-times-softmax-row": {
    about: "The same, rescaled over live rows: dropped rows count, so that the mean over all 8 is one.",
    composition: { ...plain, rescale: "row" },
    scored: MASK_F,
    loss: MASK_F,
    weights: [{ rows: SOFTMAX_F }, { rows: KEEP_4 }],
  },
  "select-times-softmax-token": {
    about: "The same, rescaled over live tokens: 23 tokens share the sum of 13.",
    composition: { ...plain, rescale: "token" },
    scored: MASK_F,
    loss: MASK_F,
    weights: [{ rows: SOFTMAX_F }, { rows: KEEP_4 }],
  },
  "tokens-with-holes": {
    about: "Token weights lie over the ones of the mask, row after row.",
    composition: plain,
    scored: HOLES,
    loss: HOLES,
    weights: [{ tokens: TOKENS }],
  },
  "tokens-times-rows-times-tokens": {
    about: "A row's weight multiplies each of its tokens; token weights multiply one by one.",
    composition: plain,
    scored: HOLES,
    loss: HOLES,
    weights: [{ tokens: TOKENS }, { rows: [2, 0.5, 7, 0.1] }, { tokens: [1, 0.3, 1, 1, 0.7, 1, 2, 1, 1] }],
  },
  "tokens-rejected-since": {
    about: "Rejection cleared tokens after scoring: their weights go, the others keep theirs.",
    composition: { ...plain, rescale: "token" },
    scored: HOLES,
    loss: ["10001", "00000", "00000", "01010"],
    weights: [{ tokens: TOKENS }],
  },
  "rows-rejected-since": {
    about: "A row that lost all tokens is no live row any more when rescaling.",
    composition: { ...plain, rescale: "row" },
    scored: MASK_F,
    loss: ["1111", "0000", "1100", "1111", "1000", "0110", "1111", "1100"],
    weights: [{ rows: SOFTMAX_F }],
  },
  "loss-mask-wider": {
    about: "The loss's mask is padded further than the one that scoring read.",
    composition: plain,
    scored: HOLES,
    loss: ["1101100", "1010000", "0000000", "0111000"],
    weights: [{ tokens: TOKENS }],
  },
  "clip-keeps-zero": {
    about: "Clipping lifts what is above 0 to the lower bound, and leaves 0.",
    composition: { ...plain, clip: [0.5, 1.5] },
    scored: HOLES,
    loss: HOLES,
    weights: [{ tokens: TOKENS }],
  },
  "clip-then-rescale": {
    about: "Clipping comes before rescaling, so that the bounds may be passed afterwards.",
    composition: { ...plain, clip: [0.5, 1.5], rescale: "row" },
    scored: HOLES,
    loss: HOLES,
    weights: [{ tokens: TOKENS }, { rows: [2, 0.5, 7, 0.1] }],
  },
  "rescale-all-zero": {
    about: "A sum of 0 is left as it is.",
    composition: { ...plain, rescale: "token" },
    scored: HOLES,
    loss: HOLES,
    weights: [{ rows: [0, 0, 0, 0] }],
  },
  "existing-after-rescale": {
    about:
      "Existing rollout_is_weights multiply last and are not renormalised; what they hold outside the mask does not count.",
    composition: { ...plain, rescale: "row" },
    scored: HOLES,
    loss: HOLES,
    weights: [{ rows: [1, 3, 1, 0.25] }],
    existing: [
      [2, 0.5, 9, 1, 1],
      [0.3, 9, 1.7, 9, 9],
      [9, 9, 9, 9, 9],
      [9, 0.1, 1, 2, 9],
    ],
  },
  "padding-rows": {
    about: "A padding row weighs 0 and counts nowhere, even where the loss's mask has a token in it.",
    composition: { ...plain, rescale: "token" },
    scored: ["1111", "1100", "0000"],
    loss: ["1111", "1100", "1000"],
    padding: [false, false, true],
    weights: [{ tokens: [1, 2, 3, 4, 0.5, 0.5] }],
  },
  "unknown-token": {
    about: "The loss has a token that was masked when the weights were computed: its weight is unknown, not 0.",
    composition: plain,
    scored: HOLES,
    loss: ["11011", "11100", "00000", "01110"],
    weights: [{ tokens: TOKENS }],
  },
  "unknown-row": {
    about: "The same for row weights: the row had no live token when it was scored.",
    composition: plain,
    scored: HOLES,
    loss: ["11011", "10100", "00010", "01110"],
    weights: [{ rows: [1, 1, 1, 1] }],
  },
  "existing-negative": {
    about: "An existing weight on a live token that is no weight is refused by its place.",
    composition: plain,
    scored: HOLES,
    loss: HOLES,
    weights: [{ rows: [1, 1, 1, 1] }],
    existing: [
      [1, 1, -9, 1, 1],
      [1, 1, -0.5, 1, 1],
      [1, 1, 1, 1, 1],
      [1, 1, 1, 1, 1],
    ],
  },
  "existing-beyond-float32": {
    about: "So is one whose product with the weight lies beyond float32.",
    composition: plain,
    scored: HOLES,
    loss: HOLES,
    weights: [{ tokens: [1, 1, 1, 1, 1, 1, 1, 4, 1] }],
    existing: [
      [1, 1, 1, 1, 1],
      [1, 1, 1, 1, 1],
      [1, 1, 1, 1, 1],
      [1, 1, 1e38, 1, 1],
    ],
  },
  "product-beyond-float32": {
    about: "Weights that multiply beyond float32 are refused, with their row.",
    composition: plain,
    scored: HOLES,
    loss: HOLES,
    weights: [{ rows: [1, 1, 1, 1e30] }, { tokens: [1, 1, 1, 1, 1, 1, 1, 1e30, 1] }],
  },
  "product-beyond-float32-clipped": {
    about: "A clip brings them back before anybody looks.",
    composition: { ...plain, clip: [0.1, 10] },
    scored: HOLES,
    loss: HOLES,
    weights: [{ rows: [1, 1, 1, 1e30] }, { tokens: [1, 1, 1, 1, 1, 1, 1, 1e30, 1] }],
  },
};

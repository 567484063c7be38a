import { type ColumnsCase, grid, inMask, inResponse, mask, PREFIX, under } from "./build.js";

/** Masks, empty puts, and one whole put. */
export const MASK_CASES: Readonly<Record<string, ColumnsCase>> = {
  "lengths-bool": { about: "A mask of prefixes.", width: 8, fields: { response_mask: mask(PREFIX) } },
  "lengths-i64": {
    about: "The same as int64, as verl holds it.",
    width: 8,
    fields: {
      response_mask: mask(
        under(PREFIX, () => "1", "0"),
        "i64",
      ),
    },
  },
  "runs-f32": {
    about: "A mask with holes.",
    width: 32,
    fields: {
      response_mask: mask(
        grid((i, j) => (i < 3 && j % 12 < 7 + i ? 1 : 0), 4, 32),
        "f32",
      ),
    },
  },
  "mask-dense": {
    about: "A mask of alternating tokens is smallest as it is.",
    width: 16,
    fields: {
      response_mask: mask(
        grid((i, j) => ((i + j) % 2 === 0 ? 1 : 0), 4, 16),
        "u8",
      ),
    },
  },
  "mask-jagged": {
    about: "The same with responses much shorter than the width.",
    width: 64,
    lengths: [8, 6, 4, 0],
    fields: {
      response_mask: mask(
        grid((i, j) => (j < [8, 6, 4, 0][i]! && (i + j) % 2 === 1 ? 1 : 0), 4, 64),
        "u8",
      ),
    },
  },
  "empty-no-rows": {
    about: "No rows: every part is empty.",
    width: 4,
    fields: {
      response_mask: mask([]),
      x: inMask("f32", []),
      v: { dtype: "f64", values: [] },
      uid: { dtype: "strings", values: [] },
    },
  },
  "empty-no-width": {
    about: "Rows without a token.",
    width: 0,
    fields: { response_mask: mask([[], []]), x: inMask("f32", [[], []]) },
  },
  "put-sessions": {
    about: "A put of rows whose sessions ride along: of session 0 the later row stands first.",
    width: 4,
    fields: {
      response_mask: mask(grid(() => true, 3, 4)),
      rm_scores: inResponse(
        "f32",
        grid((i, j) => (j === 3 && i === 0 ? 1 : 0), 3, 4),
      ),
      uid: { dtype: "strings", values: ["a", "a", "a"] },
      session: { dtype: "strings", values: ["0", "1", "0"] },
      session_index: { dtype: "i32", values: [1, 0, 0] },
    },
  },
  "put-multi-turn": {
    about: "A whole put of a multi-turn step; put-header.json is its header.",
    width: 16,
    lengths: [16, 9, 12, 4],
    fields: {
      response_mask: mask(grid((i, j) => j < [14, 9, 12, 0][i]! && (j < 4 || j >= 7), 4, 16)),
      rm_scores: inResponse(
        "f32",
        grid((i, j) => (j === [15, 8, 11, 3][i] ? i % 2 : 0), 4, 16),
      ),
      advantages: inMask(
        "f32",
        grid((i, j) => (j < [14, 9, 12, 0][i]! && (j < 4 || j >= 7) ? [1, -1, 0.5, 0][i]! : 0), 4, 16),
      ),
      old_log_probs: inMask(
        "f32",
        grid((i, j) => (j < [14, 9, 12, 0][i]! && (j < 4 || j >= 7) ? -(i + 1) / 4 - j / 8 : 0), 4, 16),
      ),
      uid: { dtype: "strings", values: ["p0", "p0", "p1", "p1"] },
    },
  },
};

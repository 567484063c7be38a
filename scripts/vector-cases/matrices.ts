import { type ColumnsCase, grid, HOLES, inMask, inResponse, mask, PREFIX, ROW_VALUES, under } from "./build.js";

/** Token matrices: dense, jagged, row. */
export const MATRIX_CASES: Readonly<Record<string, ColumnsCase>> = {
  "dense-f32": {
    about: "Every token differs and counts: dense.",
    width: 8,
    fields: {
      x: inResponse(
        "f32",
        grid((i, j) => (j === 3 ? "NaN" : i * 8 + j + 0.5)),
      ),
    },
  },
  "dense-f32-zeroed": {
    about: "One token is out of scope, too few for jagged to be smaller: dense, 0 there.",
    width: 8,
    fields: {
      response_mask: mask(grid((i, j) => i !== 2 || j !== 7)),
      x: inMask(
        "f32",
        grid((i, j) => (i === 2 && j === 7 ? 0 : i + j + 0.5)),
      ),
    },
  },
  "dense-bf16": {
    about: "Every token differs and counts, in bfloat16.",
    width: 8,
    fields: {
      x: inResponse(
        "bf16",
        grid((i, j) => (i === 0 && j === 0 ? "0x7f81" : i * 8 + j + 1)),
      ),
    },
  },
  "jagged-mask-f32": {
    about: "Tokens under a mask with holes.",
    width: 8,
    fields: {
      response_mask: mask(HOLES),
      x: inMask(
        "f32",
        under(HOLES, (i, j) => (j === 1 ? "-0" : -i - j / 4 - 1)),
      ),
    },
  },
  "jagged-mask-f16": {
    about: "The same in float16.",
    width: 8,
    fields: {
      response_mask: mask(HOLES),
      x: inMask(
        "f16",
        under(HOLES, (i, j) => -i - j / 4 - 1),
      ),
    },
  },
  "jagged-response-f64": {
    about: "All response tokens of rows of known lengths; no mask.",
    width: 8,
    lengths: [5, 2, 8, 0],
    fields: {
      x: inResponse(
        "f64",
        under(PREFIX, (i, j) => i + j / 10 + 1),
      ),
    },
  },
  "row-mask-f32": {
    about: "One value a row under a mask; the last row has no token and carries 0.",
    width: 8,
    fields: {
      response_mask: mask(PREFIX, "bool"),
      advantages: inMask(
        "f32",
        under(PREFIX, (i) => ROW_VALUES[i]!),
      ),
    },
  },
  "row-mask-nan": {
    about: "A row may be constant NaN of one payload, or -0.",
    width: 8,
    fields: {
      response_mask: mask(PREFIX),
      x: inMask(
        "f32",
        under(PREFIX, (i) => (i === 0 ? "0x7fa00001" : i === 1 ? "-0" : "NaN")),
      ),
    },
  },
  "row-response-bf16": {
    about: "One value a row over responses of known lengths: part lengths says how far.",
    width: 8,
    lengths: [5, 2, 8, 0],
    fields: {
      x: inResponse(
        "bf16",
        under(PREFIX, (i) => ROW_VALUES[i]!),
      ),
    },
  },
  "row-response-whole": {
    about: "Lengths are not known: a row spans the whole width, and there is no part lengths.",
    width: 8,
    fields: {
      x: inResponse(
        "f32",
        grid((i) => ROW_VALUES[i]!),
      ),
    },
  },
};

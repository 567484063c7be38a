import { type ColumnsCase, grid, HOLES, inMask, inResponse, mask, PREFIX, under } from "./build.js";

/** Token matrices that are mostly 0: last, sparse. */
export const SPARSE_CASES: Readonly<Record<string, ColumnsCase>> = {
  "last-response-f32": {
    about: "Outcome rewards at each response's last token.",
    width: 8,
    lengths: [5, 2, 8, 0],
    fields: {
      rm_scores: inResponse(
        "f32",
        under(PREFIX, (i, j) => (j === [4, 1, 7][i] ? i + 0.5 : 0)),
      ),
    },
  },
  "last-mask-f64": {
    about: "One value a row at the last token under a mask with holes.",
    width: 8,
    fields: {
      response_mask: mask(HOLES),
      x: inMask(
        "f64",
        under(HOLES, (i, j) => (j === [6, 1, 7][i] ? -i - 0.5 : 0)),
      ),
    },
  },
  "sparse-response-f32": {
    about: "Few tokens are not 0; -0 is not 0.",
    width: 64,
    fields: {
      x: inResponse(
        "f32",
        grid((i, j) => (j === 5 * i + 3 ? i + 1 : i === 2 && j === 9 ? "-0" : 0), 4, 64),
      ),
    },
  },
  "sparse-mask-i64": {
    about: "Few tokens under the mask are not 0, and lengths are known.",
    width: 32,
    lengths: [32, 32, 16, 0],
    fields: {
      response_mask: mask(
        grid((i, j) => i < 2 || (i === 2 && j < 16), 4, 32),
        "i64",
      ),
      x: inMask(
        "i64",
        grid((i, j) => (i < 3 && j === i + 2 ? "-9007199254740992" : "0"), 4, 32),
      ),
    },
  },
  "sparse-response-lengths": {
    about: "Sparse with response lengths.",
    width: 32,
    lengths: [32, 20, 16, 0],
    fields: {
      x: inResponse(
        "f64",
        grid((i, j) => (i < 3 && (j === 2 || j === 11) ? i + j : 0), 4, 32),
      ),
    },
  },
};

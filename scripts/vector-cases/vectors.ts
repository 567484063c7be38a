import { type ColumnsCase, mask, PREFIX, vector } from "./build.js";

/** Vectors of every dtype, and strings. */
export const VECTOR_CASES: Readonly<Record<string, ColumnsCase>> = {
  "vector-f32": vector("f32", [
    0,
    "-0",
    1.5,
    "NaN",
    "Infinity",
    "-Infinity",
    "0x7fa00001",
    "0xffc12345",
    0.10000000149011612,
  ]),
  "vector-f64": vector("f64", [0, "-0", 0.1, "NaN", "Infinity", "0x7ff0000000000bad", 1e300, 5e-324]),
  "vector-f16": vector("f16", [0, "-0", 1, -2.5, "NaN", "Infinity", "0x7d01", 65504, 2 ** -24]),
  "vector-bf16": vector("bf16", [1, -2.5, 3.140625, "-0", "NaN", "-Infinity", "0x7f81"]),
  "vector-i8": vector("i8", [0, 1, -1, 127, -128]),
  "vector-u8": vector("u8", [0, 1, 255]),
  "vector-i32": vector("i32", [0, 1, -1, 2147483647, -2147483648]),
  "vector-i64": vector("i64", ["0", "-1", "4294967296", "9007199254740992", "-9007199254740992"]),
  "vector-bool": vector("bool", [true, false, true]),
  "features-f32": {
    about: "Vectors of numbers a row beside a token matrix: their width is their own.",
    width: 8,
    fields: {
      response_mask: mask(PREFIX),
      features: {
        dtype: "f32",
        values: [
          [0.5, -0.25, "-0"],
          [1, "NaN", 2],
          [0, 0, 0],
          [3, "0x7fa00001", 4],
        ],
      },
      acc: { dtype: "f64", values: [0.1, 1, 0, "-0"] },
    },
  },
  "features-bf16": {
    about: "The same in bfloat16, of one number a row.",
    width: 0,
    fields: { features: { dtype: "bf16", values: [[1.5], [-2], ["0x7f81"]] } },
  },
  "features-f16-empty": {
    about: "Rows of no numbers.",
    width: 0,
    fields: { features: { dtype: "f16", values: [[], []] } },
  },
  strings: {
    about: "A string column: repeated, empty, beyond ASCII, with a byte order mark.",
    width: 0,
    fields: { uid: { dtype: "strings", values: ["u-1", "u-2", "u-1", "", "日本語 🦊", "\uFEFFu-1"] } },
  },
};

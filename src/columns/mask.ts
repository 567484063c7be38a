import { DataflexError } from "../errors.js";
import type { DType } from "./dtypes.js";
import type { Jagged, MaskColumn, Tensor } from "./tensor.js";
import { TokenSource } from "./token-source.js";

/** The bits of 1 in each dtype: `[low, high]` 32-bit words for 8-byte dtypes, else `[word, 0]`. */
const ONE: Readonly<Record<DType, readonly [number, number]>> = {
  f32: [0x3f800000, 0],
  f64: [0, 0x3ff00000],
  f16: [0x3c00, 0],
  bf16: [0x3f80, 0],
  i8: [1, 0],
  u8: [1, 0],
  i32: [1, 0],
  i64: [1, 0],
  bool: [1, 0],
};
/** The bits of -0, which a mask reads as 0. */
const MINUS_ZERO: Readonly<Partial<Record<DType, readonly [number, number]>>> = {
  f32: [-0x80000000, 0],
  f64: [0, -0x80000000],
  f16: [0x8000, 0],
  bf16: [0x8000, 0],
};

/** A step's mask is needed twice, for the layout and for its own column; reading 8192 × 4096 int64 twice would take noticeable time. */
const known = new WeakMap<Tensor | Jagged, MaskColumn>();

/**
 * A 0/1 token matrix as a column: `lengths` when every row's ones are a prefix, else `runs`. `width` is the padded width of the step.
 *
 * @throws DataflexError INVALID_INPUT with row and column for an element that is neither 0 nor 1
 */
export function maskOf(field: string, value: Tensor | Jagged, width: number): MaskColumn {
  let mask = known.get(value);
  if (mask === undefined) {
    mask = readMask(field, new TokenSource(value, width));
    known.set(value, mask);
  }
  return mask.width === width ? mask : { ...mask, width };
}

function readMask(field: string, source: TokenSource): MaskColumn {
  const { rows, width, dtype } = source;
  const base = { dtype, scope: "response", rows, width } as const;
  const lengths = new Int32Array(rows);
  for (let i = 0; i < rows; i++) {
    const length = prefixLength(source, i);
    if (length < 0) return { ...base, kind: "runs", ...readRuns(field, source) };
    lengths[i] = length;
  }
  return { ...base, kind: "lengths", lengths };
}

/** How many ones a row starts with, if zeros follow to its end; else -1. Bisects, then verifies the guess by two comparisons. */
function prefixLength(source: TokenSource, row: number): number {
  const [low, high] = ONE[source.dtype];
  const start = source.starts[row]!;
  const stop = source.starts[row + 1]!;
  let from = start;
  let to = stop;
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (source.has(middle, low, high)) from = middle + 1;
    else to = middle;
  }
  const ones = from === start || (source.has(start, low, high) && source.isConstant(start, from));
  return ones && source.isZeroRange(from, stop) ? from - start : -1;
}

function readRuns(field: string, source: TokenSource): { offsets: Int32Array; bounds: Int32Array } {
  const [low, high] = ONE[source.dtype];
  const offsets = new Int32Array(source.rows + 1);
  let bounds = new Int32Array(4 * source.rows + 16);
  let at = 0;
  for (let i = 0; i < source.rows; i++) {
    const start = source.starts[i]!;
    const length = source.starts[i + 1]! - start;
    if (at + length + 2 > bounds.length) bounds = grown(bounds, at + length + 2);
    let inside = false;
    for (let j = 0; j < length; j++) {
      const one = source.has(start + j, low, high);
      if (!one && !isZeroValue(source, start + j)) refuse(field, source, i, j);
      if (one !== inside) bounds[at++] = j;
      inside = one;
    }
    if (inside) bounds[at++] = length;
    offsets[i + 1] = at / 2;
  }
  return { offsets, bounds: bounds.slice(0, at) };
}

function isZeroValue(source: TokenSource, at: number): boolean {
  const minus = MINUS_ZERO[source.dtype];
  return source.isZero(at) || (minus !== undefined && source.has(at, minus[0], minus[1]));
}

function grown(bounds: Int32Array, needed: number): Int32Array<ArrayBuffer> {
  const out = new Int32Array(Math.max(bounds.length * 2, needed));
  out.set(bounds);
  return out;
}

function refuse(field: string, source: TokenSource, row: number, column: number): never {
  const half = source.dtype === "f16" || source.dtype === "bf16";
  const value = source.data[source.starts[row]! + column]!;
  const shown = half ? `the ${source.dtype} word 0x${value.toString(16)}` : String(value);
  throw new DataflexError(
    "INVALID_INPUT",
    `Field "${field}" is ${shown} in row ${row}, column ${column}; a mask holds only 0 and 1.`,
    { field, row, column },
  );
}

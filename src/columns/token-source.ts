import { DataflexError } from "../errors.js";
import { bytesOf } from "./bytes.js";
import { DTYPE_BYTES, type DType, type TypedArray } from "./dtypes.js";
import type { Spans } from "./spans.js";
import type { Jagged, Tensor } from "./tensor.js";

/** Below this many elements a loop is faster than calling the native comparison. */
const SHORT = 24;

/**
 * A token matrix as the encoder reads it: row i's tokens are the elements `starts[i] … starts[i] + stored(i)`. All comparisons are of
 * bits; long ones go through memcmp (a range is constant when it equals itself shifted by one element), which reads a matrix
 * several times faster than a loop does.
 */
export class TokenSource {
  readonly rows: number;
  readonly width: number;
  readonly dtype: DType;
  readonly size: number;
  readonly data: TypedArray;
  readonly bytes: Buffer;
  /** Element index of each row's first token, rows + 1 entries; doubles, since matrices may pass 2^31 elements. */
  readonly starts: Float64Array;
  private readonly words: Uint8Array | Uint16Array | Int32Array;
  private readonly wide: boolean;

  constructor(value: Tensor | Jagged, width: number) {
    const { data, dtype } = value;
    this.data = data;
    this.dtype = dtype;
    this.width = width;
    this.size = DTYPE_BYTES[dtype];
    const bytes = bytesOf(data);
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.wide = this.size === 8;
    this.words =
      this.size === 1
        ? bytes
        : this.size === 2
          ? new Uint16Array(data.buffer, data.byteOffset, data.length)
          : new Int32Array(data.buffer, data.byteOffset, bytes.byteLength / 4);
    this.rows = value.kind === "jagged" ? value.lengths.length : value.shape[0];
    this.starts = new Float64Array(this.rows + 1);
    const own = value.kind === "jagged" ? 0 : (value.shape[1] ?? 0);
    for (let i = 0; i < this.rows; i++) {
      this.starts[i + 1] = this.starts[i]! + (value.kind === "jagged" ? value.lengths[i]! : own);
    }
  }

  /** @throws DataflexError INVALID_INPUT when a row holds fewer tokens than are in scope */
  checkHolds(spans: Spans, field: string): void {
    for (let i = 0; i < this.rows; i++) {
      const last = spans.offsets[i + 1]! - 1;
      if (last < spans.offsets[i]!) continue;
      const needed = spans.bounds[2 * last + 1]!;
      const stored = this.starts[i + 1]! - this.starts[i]!;
      if (needed > stored) {
        throw new DataflexError(
          "INVALID_INPUT",
          `Field "${field}" has ${stored} tokens in row ${i}, and its tokens in scope reach to ${needed}; send every response token.`,
          { field, row: i, column: stored },
        );
      }
    }
  }

  same(a: number, b: number): boolean {
    const { words } = this;
    if (!this.wide) return words[a] === words[b];
    return words[2 * a] === words[2 * b] && words[2 * a + 1] === words[2 * b + 1];
  }

  /** Whether an element has these bits; `high` counts for 8-byte dtypes only. */
  has(at: number, low: number, high: number): boolean {
    return this.wide ? this.words[2 * at] === low && this.words[2 * at + 1] === high : this.words[at] === low;
  }

  /** All bits zero: +0, or false. */
  isZero(at: number): boolean {
    return this.wide ? this.words[2 * at] === 0 && this.words[2 * at + 1] === 0 : this.words[at] === 0;
  }

  /** Whether elements `[start, stop)` all have the same bits. */
  isConstant(start: number, stop: number): boolean {
    if (stop - start < SHORT) {
      for (let i = start + 1; i < stop; i++) if (!this.same(start, i)) return false;
      return true;
    }
    const { bytes, size } = this;
    return bytes.compare(bytes, start * size, (stop - 1) * size, (start + 1) * size, stop * size) === 0;
  }

  isZeroRange(start: number, stop: number): boolean {
    return stop <= start || (this.isZero(start) && this.isConstant(start, stop));
  }

  /** How many of `[start, stop)` are not all-zero bits. memcmp skips blocks of zeros. */
  countNonZero(start: number, stop: number): number {
    let count = 0;
    for (let block = start; block < stop; block += 512) {
      const end = Math.min(block + 512, stop);
      if (!this.isZeroRange(block, end)) count += this.countBlock(block, end);
    }
    return count;
  }

  private countBlock(start: number, stop: number): number {
    const { words } = this;
    let count = 0;
    if (this.wide) {
      for (let i = 2 * start; i < 2 * stop; i += 2) if ((words[i]! | words[i + 1]!) !== 0) count++;
    } else {
      for (let i = start; i < stop; i++) if (words[i] !== 0) count++;
    }
    return count;
  }
}

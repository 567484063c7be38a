import { DataflexError } from "../../errors.js";
import { type Frame, liveRows } from "./frame.js";
import { quantileOf, rankOrder } from "./order.js";
import { NonFinite } from "./signals.js";

/** A number, or a RowVector of the same batch. */
export type RowOperand = number | RowVector;

/**
 * One float64 number per row, `(rows,)`. Arithmetic is eager and applies to every row; statistics, ranks, softmax and quantiles
 * are over the *live* rows only. Comparisons, ranks and ties round both sides to float32 first, so that 1/5 is not above 0.2 and
 * ties do not depend on how a field was encoded. A comparison yields 1 and 0.
 * @throws DataflexError COMPONENT when two vectors differ in length; NonFinite (handled by the framework) when a NaN of a live row
 * would disappear in a comparison, rank, quantile or softmax.
 */
export class RowVector {
  /** `(rows,)`. Read-only. */
  readonly values: Float64Array;
  readonly #frame: Frame;

  constructor(values: ArrayLike<number>, frame: Frame) {
    this.values = values instanceof Float64Array ? values : Float64Array.from(values);
    this.#frame = frame;
    if (this.values.length !== frame.rows) {
      throw new DataflexError(
        "COMPONENT",
        `a vector of ${this.values.length} numbers does not fit a batch of ${frame.rows} rows`,
        {
          length: this.values.length,
          rows: frame.rows,
        },
      );
    }
  }

  get length(): number {
    return this.values.length;
  }

  add(other: RowOperand): RowVector {
    return this.#with(other, (a, b) => a + b);
  }
  sub(other: RowOperand): RowVector {
    return this.#with(other, (a, b) => a - b);
  }
  mul(other: RowOperand): RowVector {
    return this.#with(other, (a, b) => a * b);
  }
  div(other: RowOperand): RowVector {
    return this.#with(other, (a, b) => a / b);
  }
  pow(other: RowOperand): RowVector {
    return this.#with(other, (a, b) => a ** b);
  }
  clip(low: number, high: number): RowVector {
    return this.map((a) => Math.min(Math.max(a, low), high)); // NaN stays NaN
  }
  abs(): RowVector {
    return this.map(Math.abs);
  }
  exp(): RowVector {
    return this.map(Math.exp);
  }
  log(): RowVector {
    return this.map(Math.log);
  }
  square(): RowVector {
    return this.map((a) => a * a);
  }
  /** `fn` of each row's value and of the other vectors' values in that row. */
  map(fn: (value: number, ...others: number[]) => number, ...others: RowVector[]): RowVector {
    const out = new Float64Array(this.length);
    for (let i = 0; i < out.length; i++) out[i] = fn(this.values[i]!, ...others.map((other) => other.values[i]!));
    return new RowVector(out, this.#frame);
  }

  gt(other: RowOperand): RowVector {
    return this.#compare(other, (a, b) => a > b);
  }
  lt(other: RowOperand): RowVector {
    return this.#compare(other, (a, b) => a < b);
  }
  ge(other: RowOperand): RowVector {
    return this.#compare(other, (a, b) => a >= b);
  }
  le(other: RowOperand): RowVector {
    return this.#compare(other, (a, b) => a <= b);
  }
  /** 1 where neither is 0. */
  and(other: RowVector): RowVector {
    return this.#with(other, (a, b) => Number(a !== 0 && b !== 0));
  }
  or(other: RowVector): RowVector {
    return this.#with(other, (a, b) => Number(a !== 0 || b !== 0));
  }
  not(): RowVector {
    return this.map((a) => Number(a === 0));
  }
  /** Numbers of the live rows whose value is not 0, ascending: the rows a selector keeps. */
  nonzero(): Int32Array {
    return liveRows(this.#frame).filter((i) => this.values[i] !== 0);
  }

  /** exp(x) over its sum over live rows, the maximum subtracted first; 0 in other rows. Sums to 1. */
  softmax(): RowVector {
    const rows = this.#finiteLive("softmax");
    const out = new Float64Array(this.length);
    let max = Number.NEGATIVE_INFINITY;
    for (const i of rows) max = Math.max(max, this.values[i]!);
    let total = 0;
    for (const i of rows) {
      out[i] = Math.exp(this.values[i]! - max);
      total += out[i]!;
    }
    for (const i of rows) out[i] = out[i]! / total;
    return new RowVector(out, this.#frame);
  }

  /**
   * Position of each live row, 0 first, when the highest (or with `largest: false` the lowest) come first; equal values: the lower
   * row first. Other rows get the number of live rows, so that `rank().lt(k)` never holds for them.
   */
  rank({ largest = true }: { largest?: boolean } = {}): RowVector {
    const rows = this.#finiteLive("rank");
    const out = new Float64Array(this.length).fill(rows.length);
    rankOrder(rows, this.values, largest).forEach((row, place) => {
      out[row] = place;
    });
    return new RowVector(out, this.#frame);
  }

  /** Linear quantile over live rows, `q` in [0, 1]; 0 when there are none. */
  quantile(q: number): number {
    return quantileOf(
      Float64Array.from(this.#finiteLive("quantile"), (i) => this.values[i]!),
      q,
    );
  }

  /** Over live rows; 0 when there are none. */
  sum(): number {
    let sum = 0;
    for (const i of liveRows(this.#frame)) sum += this.values[i]!;
    return sum;
  }
  mean(): number {
    return this.count() === 0 ? 0 : this.sum() / this.count();
  }
  /** Unbiased (n − 1); 0 for fewer than two live rows. */
  std(): number {
    const n = this.count();
    if (n < 2) return 0;
    const mean = this.mean();
    let squares = 0;
    for (const i of liveRows(this.#frame)) squares += (this.values[i]! - mean) ** 2;
    return Math.sqrt(squares / (n - 1));
  }
  max(): number {
    return this.count() === 0 ? 0 : liveRows(this.#frame).reduce((max, i) => Math.max(max, this.values[i]!), -Infinity);
  }
  min(): number {
    return this.count() === 0 ? 0 : liveRows(this.#frame).reduce((min, i) => Math.min(min, this.values[i]!), Infinity);
  }
  /** Number of live rows. */
  count(): number {
    return this.#frame.liveCount;
  }

  #with(other: RowOperand, fn: (a: number, b: number) => number): RowVector {
    const out = new Float64Array(this.length);
    if (typeof other === "number") {
      for (let i = 0; i < out.length; i++) out[i] = fn(this.values[i]!, other);
    } else {
      if (other.length !== this.length) {
        throw new DataflexError("COMPONENT", `vectors of ${this.length} and ${other.length} rows do not fit together`, {
          rows: [this.length, other.length],
        });
      }
      for (let i = 0; i < out.length; i++) out[i] = fn(this.values[i]!, other.values[i]!);
    }
    return new RowVector(out, this.#frame);
  }

  #compare(other: RowOperand, fn: (a: number, b: number) => boolean): RowVector {
    this.#refuseNaN();
    if (typeof other !== "number") other.#refuseNaN();
    return this.#with(other, (a, b) => Number(fn(Math.fround(a), Math.fround(b))));
  }

  #refuseNaN(): void {
    const bad = [...liveRows(this.#frame)].filter((i) => Number.isNaN(this.values[i]));
    if (bad.length > 0) throw new NonFinite("a value in a comparison", bad, undefined, Number.NaN);
  }

  #finiteLive(what: string): Int32Array {
    const rows = liveRows(this.#frame);
    const bad = [...rows.filter((i) => !Number.isFinite(this.values[i]))];
    if (bad.length > 0) throw new NonFinite(`a value in ${what}`, bad, undefined, this.values[bad[0]!]!);
    return rows;
  }
}

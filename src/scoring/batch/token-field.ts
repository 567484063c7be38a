import { difference, lastOf } from "../../columns/span-walks.js";
import type { Spans } from "../../columns/spans.js";
import type { Scope } from "../../columns/tensor.js";
import { DataflexError } from "../../errors.js";
import { reduce, writer } from "./evaluate.js";
import type { Expression, Operation } from "./expression.js";
import { type Frame, liveRows } from "./frame.js";
import type { Reduction } from "./loop-job.js";
import { quantileOf } from "./order.js";
import { RowVector } from "./row-vector.js";

/** A number, one number per row, or one number per token of the same batch. */
export type TokenOperand = number | RowVector | TokenField;

/** Which tokens a reduction covers: those with `response_mask` 1 (the default), or every response token. */
export interface Over {
  readonly over?: Scope;
}

/**
 * One number per token, `(rows, L)`, evaluated lazily: operations build an expression, and a reduction runs it in one float64 pass over the
 * encoded form. Tokens outside the reduction are skipped, not multiplied by 0, so their values cannot matter.
 * Reductions give one number per row; a row without such tokens gives 0.
 * @throws DataflexError COMPONENT for operands of another batch size, or `over: "response"` on a field that is encoded with mask scope;
 * NonFinite (handled by the framework) when a token of a live row that is read is NaN or infinite.
 */
export class TokenField {
  readonly expression: Expression;
  readonly frame: Frame;
  /** `mask`: there are no tokens outside the mask. */
  readonly scope: Scope;
  readonly #what: string;

  constructor(expression: Expression, frame: Frame, scope: Scope, what: string) {
    this.expression = expression;
    this.frame = frame;
    this.scope = scope;
    this.#what = what;
  }

  add(other: TokenOperand): TokenField {
    return this.#operation("add", other);
  }
  sub(other: TokenOperand): TokenField {
    return this.#operation("sub", other);
  }
  mul(other: TokenOperand): TokenField {
    return this.#operation("mul", other);
  }
  div(other: TokenOperand): TokenField {
    return this.#operation("div", other);
  }
  pow(other: TokenOperand): TokenField {
    return this.#operation("pow", other);
  }
  clip(low: number, high: number): TokenField {
    return this.#operation("clip", low, high);
  }
  abs(): TokenField {
    return this.#operation("abs");
  }
  exp(): TokenField {
    return this.#operation("exp");
  }
  log(): TokenField {
    return this.#operation("log");
  }
  square(): TokenField {
    return this.#operation("square");
  }
  /** `fn` of each token's value and of the others' values at that token. Pure: it is called once per row where all are constant. */
  map(fn: (value: number, ...others: number[]) => number, ...others: TokenOperand[]): TokenField {
    return this.#combine(others, (args) => ({ kind: "map", fn: fn as (...values: number[]) => number, args }));
  }

  sum(options: Over = {}): RowVector {
    return this.#reduce("sum", options);
  }
  mean(options: Over = {}): RowVector {
    return this.#reduce("mean", options);
  }
  min(options: Over = {}): RowVector {
    return this.#reduce("min", options);
  }
  max(options: Over = {}): RowVector {
    return this.#reduce("max", options);
  }
  /** The value at the row's last token. */
  last(options: Over = {}): RowVector {
    return this.#reduce("last", options);
  }
  /** How many tokens the other reductions cover. */
  count(options: Over = {}): RowVector {
    const { counts } = this.#spans(options);
    return new RowVector(
      Float64Array.from(counts, (n, i) => n * this.frame.real[i]!),
      this.frame,
    );
  }

  /** Every unmasked token's value, row after row (`batch.tokenStarts` says where each begins); 0 in rows that are not live. */
  toArray(): Float64Array {
    const { frame } = this;
    const values = new Float64Array(frame.mask.starts[frame.rows]!);
    writer(this.expression, { ...frame, real: frame.live }, frame.mask, values, "jagged")(0, frame.rows);
    return values;
  }

  /** Linear quantile over the unmasked tokens of all live rows, `q` in [0, 1]; 0 when there are none. */
  quantile(q: number): number {
    const { frame } = this;
    const values = this.toArray();
    let n = 0;
    for (const i of liveRows(frame)) {
      const [from, to] = [frame.mask.starts[i]!, frame.mask.starts[i + 1]!];
      values.copyWithin(n, from, to);
      n += to - from;
    }
    return quantileOf(values.subarray(0, n), q);
  }

  /**
   * How many response tokens outside the mask are not 0: values that a reduction over the mask leaves out. NaN there is not counted.
   * 0 for a field with mask scope.
   */
  nonzeroOutsideMask(): RowVector {
    if (this.scope === "mask") return new RowVector(new Float64Array(this.frame.rows), this.frame);
    const outside = difference(this.frame.response, this.frame.mask);
    const nonzero = this.#operation("nonzero").expression;
    return new RowVector(reduce(nonzero, this.frame, outside, ["sum"], false).sum, this.frame);
  }

  #reduce(reduction: Reduction, options: Over): RowVector {
    const spans = this.#spans(options);
    // To find the last token, the others need not be visited.
    const visited = reduction === "last" ? lastOf(spans) : spans;
    return new RowVector(reduce(this.expression, this.frame, visited, [reduction])[reduction], this.frame);
  }

  #spans({ over = "mask" }: Over): Spans {
    if (over === "mask") return this.frame.mask;
    if (this.scope === "response") return this.frame.response;
    throw new DataflexError(
      "COMPONENT",
      `${this.#what} has scope 'mask': tokens outside the mask did not travel, so nothing can be reduced over 'response'; ` +
        `require it as {name, scope: "response"}`,
      { what: this.#what },
    );
  }

  #operation(operation: Operation, ...others: TokenOperand[]): TokenField {
    return this.#combine(others, (args) => ({ kind: "operation", operation, args }));
  }

  #combine(others: readonly TokenOperand[], make: (args: Expression[]) => Expression): TokenField {
    let scope = this.scope;
    const args = others.map((other): Expression => {
      if (typeof other === "number") return { kind: "number", value: other };
      const rows = other instanceof RowVector ? other.length : other.frame.rows;
      if (rows !== this.frame.rows || (other instanceof TokenField && other.frame.width !== this.frame.width)) {
        throw new DataflexError("COMPONENT", `${this.#what} has ${this.frame.rows} rows, the other operand ${rows}`, {
          rows: [this.frame.rows, rows],
        });
      }
      if (other instanceof RowVector) return { kind: "rows", values: other.values };
      if (other.scope === "mask") scope = "mask";
      return other.expression;
    });
    return new TokenField(make([this.expression, ...args]), this.frame, scope, this.#what);
  }
}

import type { Tensor2D } from "@tensorflow/tfjs-core";
import type { NumericArray } from "../../columns/dtypes.js";
import { columnsOf, keepRows, lastToken } from "../../columns/span-walks.js";
import { fullSpans, maskSpans, prefixSpans } from "../../columns/spans.js";
import type { Column, Layout, StringsColumn, TokenColumn } from "../../columns/tensor.js";
import { DataflexError } from "../../errors.js";
import { checkColumn, wrongKind } from "./check-column.js";
import { writer } from "./evaluate.js";
import { type Frame, frameOf, liveRows } from "./frame.js";
import {
  type GroupSize,
  type Groups,
  groupSizes,
  lastOfSession,
  makeGroups,
  noSuchStrings,
  type Sessions,
} from "./groups.js";
import { isFloat } from "./kernel.js";
import { RowVector } from "./row-vector.js";
import { NonFinite, TensorsNeeded } from "./signals.js";
import type { TensorScope, Tf } from "./tensor-backend.js";
import { TokenField } from "./token-field.js";

export interface BatchInput {
  readonly layout: Layout;
  readonly columns: ReadonlyMap<string, Column>;
  /** `(rows,)`, 1 = a row that only fills the batch up. */
  readonly isPadding?: Uint8Array;
  /** Response lengths, `(rows,)`; else `layout.lengths`, else those of a response-scoped jagged column. */
  readonly lengths?: Int32Array;
}

/**
 * The rows of one step (or shard) and the fields a component declared. Everything is read in its encoded form.
 * @throws DataflexError INVALID_INPUT when a column does not fit the layout.
 */
export function createBatch(input: BatchInput): Batch {
  const { rows, width } = input.layout;
  const known = knownLengths(input);
  const response = known === undefined ? fullSpans(rows, width) : prefixSpans(known, width);
  const given = input.layout.mask ?? input.columns.get("response_mask");
  const masked = given?.kind === "lengths" || given?.kind === "runs" ? given : undefined;
  const real = new Uint8Array(rows).fill(1);
  input.isPadding?.forEach((padding, i) => {
    if (padding !== 0) real[i] = 0;
  });
  const mask = masked === undefined ? response : keepRows(maskSpans(masked), real);
  const frame = frameOf({ rows, width, mask, response, lengthsKnown: known !== undefined }, real, masked !== undefined);
  for (const [name, column] of input.columns) checkColumn(name, column, frame);
  const columns = new Map(input.columns);
  if (masked !== undefined && !columns.has("response_mask")) columns.set("response_mask", masked);
  return new Batch(frame, columns, masked !== undefined, [...columns.keys()]);
}

export class Batch {
  readonly frame: Frame;
  readonly #columns: ReadonlyMap<string, Column>;
  readonly #hasMask: boolean;
  readonly #readable: readonly string[];
  readonly #scope: TensorScope | undefined;

  /** Use `createBatch`. */
  constructor(
    frame: Frame,
    columns: ReadonlyMap<string, Column>,
    hasMask: boolean,
    readable: readonly string[],
    scope?: TensorScope,
  ) {
    this.frame = frame;
    this.#columns = columns;
    this.#hasMask = hasMask;
    this.#readable = readable;
    this.#scope = scope;
  }

  get rows(): number {
    return this.frame.rows;
  }
  /** L, the widest response the batch may hold. */
  get width(): number {
    return this.frame.width;
  }
  /** `(rows,)`: 1 = neither padding nor dropped and, where a mask exists, with at least one unmasked token. */
  get live(): Uint8Array {
    return this.frame.live;
  }
  get liveCount(): number {
    return this.frame.liveCount;
  }
  /** Names of the columns that can be read. */
  get fields(): readonly string[] {
    return this.#readable;
  }

  /** A token matrix `(rows, L)`. @throws DataflexError COMPONENT when it was not declared or is not a token matrix. */
  field(name: string): TokenField {
    const column = this.#tokenColumn(name);
    // The mask is 0 or 1 at every response token, whatever scope it travelled with.
    const scope = name === "response_mask" ? "response" : column.scope;
    return new TokenField({ kind: "column", name, column }, this.frame, scope, `field '${name}'`);
  }

  /** A numeric column `(rows,)`. @throws as `field`; NonFinite where a live row's value is NaN or infinite. */
  column(name: string): RowVector {
    const column = this.#column(name);
    if (column.kind !== "vector") throw wrongKind(name, column, "column", "one number a row");
    const bad: number[] = [];
    if (isFloat(column.values)) {
      column.values.forEach((value, i) => {
        if (value - value !== 0 && this.live[i] === 1) bad.push(i);
      });
    }
    if (bad.length > 0) throw new NonFinite(`field '${name}'`, bad, undefined, column.values[bad[0]!]!);
    return new RowVector(column.values, this.frame);
  }

  /** A vector of numbers a row, `(rows, width)`, row after row. @throws as `field`; NonFinite where a live row has NaN or infinity. */
  features(name: string): { readonly width: number; readonly values: Readonly<NumericArray> } {
    const column = this.#column(name);
    if (column.kind !== "features") throw wrongKind(name, column, "features", "a vector of numbers a row");
    const { width, values } = column;
    const bad = liveRows(this.frame).filter((row) =>
      values.subarray(row * width, (row + 1) * width).some((value) => value - value !== 0),
    );
    const first = bad[0];
    if (first !== undefined) {
      const at = values.subarray(first * width, (first + 1) * width).findIndex((value) => value - value !== 0);
      throw new NonFinite(`field '${name}'`, [...bad], at, values[first * width + at]!);
    }
    return { width, values };
  }

  /** Whether a field has one number a row rather than one a token: a trainer may have it as either. @throws as `field`. */
  hasRows(name: string): boolean {
    return this.#column(name).kind === "vector";
  }

  /** A string column, one string a row. @throws as `field`. */
  strings(name: string): readonly string[] {
    const column = this.#strings(name);
    return Array.from(column.index, (k) => column.table[k]!);
  }

  /** A column in its encoded form, to be passed on to another process. @throws DataflexError COMPONENT when it was not declared. */
  encoded(name: string): Column {
    return this.#column(name);
  }

  /** `(rows,)`: 1 = live and, if rows have sessions, the last live row of its session: the rows that group statistics count. */
  lastOfSession(): Uint8Array {
    return lastOfSession(this.frame, this.#sessions());
  }

  /** Rows that share a string, usually `uid`. @throws as `field`. */
  groupBy(name: string): Groups {
    const key = this.#strings(name);
    return makeGroups(this.frame, key, this.#sessions());
  }

  /** How many responses of each group arrived: rows that are not padding, each session once. @throws as `field`. */
  groupSizes(name: string): readonly GroupSize[] {
    return groupSizes(this.frame, this.#strings(name), this.#stringsIfAny("session"));
  }

  /** One number per row, from plain numbers. */
  vector(values: ArrayLike<number>): RowVector {
    return new RowVector(values, this.frame);
  }

  /**
   * Tokens of each response, tool tokens too, `(rows,)`. If the trainer gave no lengths: up to the last unmasked token, since
   * nothing more is known.
   */
  responseLength(): RowVector {
    const { rows, lengthsKnown, response, mask } = this.frame;
    return this.vector(
      Float64Array.from({ length: rows }, (_, i) => (lengthsKnown ? response.counts[i]! : lastToken(mask, i) + 1)),
    );
  }

  /** Where each row's unmasked tokens start in `TokenField.toArray()`; rows + 1 entries, the last is the number of tokens. */
  get tokenStarts(): Int32Array {
    return this.frame.mask.starts;
  }

  /** Column of every unmasked token in the matrix `(rows, L)`, row after row, as `TokenField.toArray()` holds them. */
  tokenColumns(): Int32Array {
    return columnsOf(this.frame.mask);
  }

  /** One number per token, from plain numbers, row after row as `TokenField.toArray()` gives them. @throws DataflexError COMPONENT. */
  tokens(values: Float64Array): TokenField {
    const { rows, width, tokenStarts: offsets } = this;
    if (values.length !== offsets[rows]) {
      throw new DataflexError(
        "COMPONENT",
        `batch.tokens wants one number for each of ${offsets[rows]} unmasked tokens, got ${values.length}`,
        { want: offsets[rows], have: values.length },
      );
    }
    const column = { kind: "jagged", dtype: "f64", scope: "mask", rows, width, offsets, values } as const;
    return new TokenField({ kind: "column", name: "tokens", column }, this.frame, "mask", "tokens");
  }

  /**
   * A dense float32 tensor `(rows, L)` on the worker's device, 0 outside the field's scope and in rows that are
   * not live: a copy that lives for the duration of the call. Integers are converted to floats too. @throws as `field`; NonFinite.
   */
  tensor(name: string): Tensor2D {
    const column = this.#tokenColumn(name);
    if (this.#scope === undefined) throw new TensorsNeeded();
    const values = new Float32Array(this.rows * this.width);
    const spans = this.field(name).scope === "mask" ? this.frame.mask : this.frame.response;
    // Rows that do not count must not affect operations over the whole matrix either.
    const liveOnly = { ...this.frame, real: this.live };
    writer({ kind: "column", name, column }, liveOnly, spans, values, "dense")(0, this.rows);
    return this.#scope.matrix(values, this.rows, this.width);
  }

  /** tfjs-core on the worker's backend, for components that use `tensor`. */
  get tf(): Tf {
    if (this.#scope === undefined) throw new TensorsNeeded();
    return this.#scope.tf;
  }

  /** The same batch with tensors allowed. */
  withTensors(scope: TensorScope): Batch {
    return new Batch(this.frame, this.#columns, this.#hasMask, this.#readable, scope);
  }

  /** The same batch, in which only `names` can be read. */
  restrict(names: readonly string[]): Batch {
    const readable = this.#readable.filter((name) => names.includes(name));
    return new Batch(this.frame, this.#columns, this.#hasMask, readable, this.#scope);
  }

  /** The same batch, in which `dropped` rows count no more than padding does. */
  without(dropped: Iterable<number>): Batch {
    const real = this.frame.real.slice();
    for (const row of dropped) real[row] = 0;
    const frame = frameOf(this.frame, real, this.#hasMask);
    return new Batch(frame, this.#columns, this.#hasMask, this.#readable, this.#scope);
  }

  #column(name: string): Column {
    const column = this.#readable.includes(name) ? this.#columns.get(name) : undefined;
    if (column !== undefined) return column;
    throw new DataflexError(
      "COMPONENT",
      `there is no field '${name}' in this batch (it has ${this.#readable.join(", ") || "none"}); declare it in requires`,
      { field: name, available: this.#readable },
    );
  }

  #tokenColumn(name: string): TokenColumn {
    const column = this.#column(name);
    if (column.kind === "vector" || column.kind === "strings" || column.kind === "features") {
      throw wrongKind(name, column, "field", "one number a token");
    }
    return column;
  }

  #strings(name: string): StringsColumn {
    if (!this.#readable.includes(name)) throw noSuchStrings(name, this.#readable);
    const column = this.#columns.get(name);
    if (column?.kind === "strings") return column;
    throw noSuchStrings(name, this.#readable);
  }

  /** The definition of a group involves sessions, whether or not they are declared. */
  #sessions(): Sessions {
    const index = this.#columns.get("session_index");
    return {
      uid: this.#stringsIfAny("uid"),
      session: this.#stringsIfAny("session"),
      index: index?.kind === "vector" ? index.values : undefined,
    };
  }

  #stringsIfAny(name: string): StringsColumn | undefined {
    const column = this.#columns.get(name);
    return column?.kind === "strings" ? column : undefined;
  }
}

function knownLengths({ layout, lengths, columns }: BatchInput): Int32Array | undefined {
  const known = lengths ?? layout.lengths;
  if (known !== undefined) return known;
  for (const column of columns.values()) {
    if (column.kind === "jagged" && column.scope === "response") {
      return Int32Array.from({ length: column.rows }, (_, i) => column.offsets[i + 1]! - column.offsets[i]!);
    }
  }
  return undefined;
}

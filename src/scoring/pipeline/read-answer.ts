import { DataflexError } from "../../errors.js";
import type { Batch } from "../batch/batch.js";
import { RowVector } from "../batch/row-vector.js";
import { isTensor } from "../batch/tensor-backend.js";
import { TokenField } from "../batch/token-field.js";
import type { Component } from "../components/component-types.js";

/**
 * A component's answer as one number per row.
 * @throws DataflexError COMPONENT when it has another shape.
 */
export async function readRows(component: Component, answer: unknown, batch: Batch): Promise<RowVector> {
  if (answer instanceof RowVector && answer.length === batch.rows) return new RowVector(answer.values, batch.frame);
  if (answer instanceof TokenField) {
    throw wrongShape(component, "one number a token", "one number a row: reduce it with sum, mean, max …", batch);
  }
  const numbers = await numbersOf(component, answer, batch);
  if (numbers.length !== batch.rows)
    throw wrongShape(component, `${numbers.length} numbers`, "one number a row", batch);
  return new RowVector(numbers, batch.frame);
}

/**
 * A component's answer as one number per token. Tensors and flat arrays are `(rows, L)`; only their tokens under mask 1 are read.
 * @throws DataflexError COMPONENT when it has another shape.
 */
export async function readTokens(component: Component, answer: unknown, batch: Batch): Promise<TokenField> {
  if (answer instanceof TokenField) return answer;
  const want = "one number a token, (rows, L)";
  if (answer instanceof RowVector) throw wrongShape(component, "one number a row", want, batch);
  const values = await numbersOf(component, answer, batch);
  const { rows, width } = batch;
  if (values.length !== rows * width) throw wrongShape(component, `${values.length} numbers`, want, batch);
  return tokenField(component.name, { kind: "dense", dtype: "f64", scope: "mask", rows, width, values }, batch);
}

/** A field over plain values that a component returned. */
export function tokenField(
  name: string,
  column: {
    kind: "dense" | "jagged";
    dtype: "f64";
    scope: "mask";
    rows: number;
    width: number;
    values: Float64Array;
    offsets?: Int32Array;
  },
  batch: Batch,
): TokenField {
  const { kind, offsets, ...rest } = column;
  const held = kind === "jagged" ? { ...rest, kind, offsets: offsets! } : { ...rest, kind };
  return new TokenField({ kind: "column", name, column: held }, batch.frame, "mask", name);
}

/** A selector's answer as kept row numbers, ascending and each once. @throws DataflexError COMPONENT for anything else. */
export async function readKept(component: Component, answer: unknown, batch: Batch): Promise<Int32Array> {
  if (answer instanceof RowVector) return (await readRows(component, answer, batch)).nonzero();
  if (answer instanceof TokenField) throw wrongShape(component, "one number a token", "row numbers", batch);
  const numbers = await numbersOf(component, answer, batch);
  const wrong = numbers.find((row) => !Number.isInteger(row) || row < 0 || row >= batch.rows);
  if (wrong !== undefined) {
    throw new DataflexError(
      "COMPONENT",
      `${component.kind} '${component.name}' kept row ${wrong}, but rows are whole numbers from 0 to ${batch.rows - 1}`,
      { component: component.name, row: wrong, rows: batch.rows },
    );
  }
  return Int32Array.from(new Set(numbers)).sort();
}

async function numbersOf(component: Component, answer: unknown, batch: Batch): Promise<Float64Array> {
  const list = isTensor(answer) ? await answer.data() : answer;
  const isList = Array.isArray(list) || (ArrayBuffer.isView(list) && !(list instanceof DataView));
  if (!isList) throw wrongShape(component, typeof list, "a vector, a field, a tensor or an array", batch);
  // Copied: a tensor's data may be its own memory. Number(null) would be 0, so what is not a number becomes NaN and is found.
  return Float64Array.from(list as ArrayLike<unknown>, (value) => (typeof value === "number" ? value : Number.NaN));
}

function wrongShape(component: Component, have: string, want: string, batch: Batch): DataflexError {
  return new DataflexError(
    "COMPONENT",
    `${component.kind} '${component.name}' returned ${have}, expected ${want} (batch: ${batch.rows} rows, L = ${batch.width})`,
    { component: component.name, rows: batch.rows, width: batch.width },
  );
}

import type { DType } from "../../src/columns/dtypes.js";
import type { JsonValue, VectorField } from "../../test/helpers/vector-format.js";

/** What goes into the golden vectors; `gen-vectors.ts` encodes it. Names say which encoding a case is there for. */
export interface ColumnsCase {
  readonly about: string;
  readonly width: number;
  readonly lengths?: readonly number[];
  readonly fields: Readonly<Record<string, VectorField>>;
}

export type Rows = readonly (readonly JsonValue[])[];
export const mask = (values: Rows, dtype: DType = "bool"): VectorField => ({ dtype, scope: "response", values });
export const inMask = (dtype: DType, values: Rows): VectorField => ({ dtype, scope: "mask", values });
export const inResponse = (dtype: DType, values: Rows): VectorField => ({ dtype, scope: "response", values });
export const vector = (dtype: DType, values: readonly JsonValue[]): ColumnsCase => ({
  about: `A vector of ${dtype} with the values that are easiest to lose.`,
  width: 0,
  fields: { x: { dtype, values } },
});
const bools = (rows: readonly string[]): boolean[][] => rows.map((row) => Array.from(row, (token) => token === "1"));

export const PREFIX = bools(["11111000", "11000000", "11111111", "00000000"]);
export const HOLES = bools(["11100110", "01000000", "11111111", "00000000"]);
export const grid = (value: (i: number, j: number) => JsonValue, rows = 4, width = 8): JsonValue[][] =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: width }, (_, j) => value(i, j)));
export const under = (
  ones: readonly (readonly boolean[])[],
  value: (i: number, j: number) => JsonValue,
  zero: JsonValue = 0,
) => ones.map((row, i) => row.map((one, j) => (one ? value(i, j) : zero)));
export const ROW_VALUES = [1.5, -0.25, 3, 7];

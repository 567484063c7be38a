import type { TokenColumn } from "../../columns/tensor.js";

/** JavaScript source of each operation over its arguments' source. NaN must come out of NaN: see `clip`. */
export const OPERATIONS = {
  add: (a: string, b: string) => `${a} + ${b}`,
  sub: (a: string, b: string) => `${a} - ${b}`,
  mul: (a: string, b: string) => `${a} * ${b}`,
  div: (a: string, b: string) => `${a} / ${b}`,
  pow: (a: string, b: string) => `Math.pow(${a}, ${b})`,
  // Comparisons with NaN are false, so NaN passes through instead of becoming a bound.
  clip: (a: string, low: string, high: string) => `${a} < ${low} ? ${low} : ${a} > ${high} ? ${high} : ${a}`,
  abs: (a: string) => `Math.abs(${a})`,
  exp: (a: string) => `Math.exp(${a})`,
  log: (a: string) => `Math.log(${a})`,
  square: (a: string) => `${a} * ${a}`,
  /** 1 where the value is a number other than 0; NaN is 0. */
  nonzero: (a: string) => `${a} > 0 || ${a} < 0 ? 1 : 0`,
} as const satisfies Record<string, (...args: string[]) => string>;
export type Operation = keyof typeof OPERATIONS;

/** What a TokenField represents: nothing is computed until a reduction or a write needs it. Shared nodes are computed once. */
export type Expression =
  | { readonly kind: "column"; readonly name: string; readonly column: TokenColumn }
  | { readonly kind: "rows"; readonly values: Float64Array }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "operation"; readonly operation: Operation; readonly args: readonly Expression[] }
  | { readonly kind: "map"; readonly fn: (...values: number[]) => number; readonly args: readonly Expression[] };
export type ColumnLeaf = Extract<Expression, { kind: "column" }>;

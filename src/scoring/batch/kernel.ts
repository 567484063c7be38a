import type { NumericArray } from "../../columns/dtypes.js";
import type { Spans } from "../../columns/spans.js";
import { type ColumnLeaf, type Expression, OPERATIONS } from "./expression.js";
import type { Frame } from "./frame.js";

/**
 * Turns an expression into the source of a loop body. Interpreting an expression node by node takes a call per node and token, and 5 to 20
 * times as long as a hand-written loop, because those call sites see every operation and every array type. A loop that is generated once per
 * shape of expression is as fast as a hand-written one. Sources hold no values: numbers, arrays and functions are arguments, so
 * equal shapes share one function. The text consists only of the operation table and counters, never of a name from a user.
 */
export interface Program {
  /** Once per row. */
  readonly rowLines: readonly string[];
  /** Once per token; empty when the value is the same for all tokens of a row. */
  readonly tokenLines: readonly string[];
  readonly result: string;
  readonly contiguous: readonly ColumnLeaf[];
  readonly scattered: readonly ColumnLeaf[];
  /** Leaves that hold one value a row, checked for finiteness in front of the loop. */
  readonly perRow: readonly ColumnLeaf[];
  readonly args: KernelArguments;
  /** Array types, part of the cache key: one function per type keeps its loads monomorphic. */
  readonly types: string;
}

export interface KernelArguments {
  readonly arrays: readonly NumericArray[];
  readonly rowArrays: readonly NumericArray[];
  readonly numbers: readonly number[];
  readonly functions: readonly ((...values: number[]) => number)[];
}

interface Emitted {
  readonly name: string;
  readonly perToken: boolean;
}

/** @param guard add each float read to `z` times 0: `z` stays 0 unless something read is NaN or infinite. */
export function compile(expression: Expression, frame: Frame, spans: Spans, guard: boolean): Program {
  const rowLines: string[] = [];
  const tokenLines: string[] = [];
  const contiguous: ColumnLeaf[] = [];
  const scattered: ColumnLeaf[] = [];
  const perRow: ColumnLeaf[] = [];
  const arrays: NumericArray[] = [];
  const rowArrays: NumericArray[] = [];
  const numbers: number[] = [];
  const functions: ((...values: number[]) => number)[] = [];
  const types: string[] = [];
  const seen = new Map<Expression, Emitted>();
  let counter = 0;

  const emit = (source: string, perToken: boolean): Emitted => {
    const name = `v${counter++}`;
    (perToken ? tokenLines : rowLines).push(`const ${name} = ${source};`);
    return { name, perToken };
  };
  const perRowArray = (values: NumericArray): Emitted => {
    types.push(`R${values.constructor.name}`);
    return emit(`R${rowArrays.push(values) - 1}[i]`, false);
  };
  const leaf = (node: ColumnLeaf): Emitted => {
    const { column } = node;
    if (column.kind === "row") {
      perRow.push(node);
      return perRowArray(column.values);
    }
    // The mask itself, read where it is 1.
    if ((column.kind === "lengths" || column.kind === "runs") && spans === frame.mask && isMask(node)) {
      return emit("1", false);
    }
    let read: Emitted;
    if (column.kind === "dense" || column.kind === "jagged") {
      const j = contiguous.push(node) - 1;
      arrays.push(column.values);
      types.push(`A${column.values.constructor.name}${column.kind}${column.scope}`);
      read = emit(`A${j}[b${j} + t]`, true);
    } else {
      const j = scattered.push(node) - 1;
      return emit(`X${j}[t]`, true);
    }
    if (guard && isFloat(column.values)) tokenLines.push(`z += ${read.name} * 0;`);
    return read;
  };
  const visit = (node: Expression): Emitted => {
    const done = seen.get(node);
    if (done !== undefined) return done;
    let emitted: Emitted;
    if (node.kind === "column") emitted = leaf(node);
    else if (node.kind === "rows") emitted = perRowArray(node.values);
    else if (node.kind === "number") emitted = emit(`K${numbers.push(node.value) - 1}`, false);
    else {
      const args = node.args.map(visit);
      const names = args.map((arg) => arg.name);
      const perToken = args.some((arg) => arg.perToken);
      const source =
        node.kind === "map"
          ? `F${functions.push(node.fn) - 1}(${names.join(", ")})`
          : (OPERATIONS[node.operation] as (...args: string[]) => string)(...names);
      emitted = emit(source, perToken);
    }
    seen.set(node, emitted);
    return emitted;
  };

  const result = visit(expression).name;
  const args = { arrays, rowArrays, numbers, functions };
  return { rowLines, tokenLines, result, contiguous, scattered, perRow, args, types: types.join(" ") };
}

/** A field read under the mask's own name is the mask, whatever object holds it. */
function isMask(node: ColumnLeaf): boolean {
  return node.name === "response_mask";
}

export function isFloat(values: NumericArray): boolean {
  return values instanceof Float32Array || values instanceof Float64Array;
}

/** `const` lines that bind the argument arrays to local names. */
export function bindings(program: Program): string {
  const { arrays, rowArrays, numbers, functions } = program.args;
  return [
    ...arrays.map((_, j) => `const A${j} = args.arrays[${j}];`),
    ...rowArrays.map((_, j) => `const R${j} = args.rowArrays[${j}];`),
    ...numbers.map((_, j) => `const K${j} = args.numbers[${j}];`),
    ...functions.map((_, j) => `const F${j} = args.functions[${j}];`),
  ].join("\n");
}

const compiled = new Map<string, unknown>();
/** Far more shapes than any catalogue has; only code that keeps building new shapes reaches it, and that must not leak. */
const COMPILED_LIMIT = 2000;

/** The function that `source` (an expression) evaluates to, made once. */
export function cachedFunction<F>(source: string): F {
  let made = compiled.get(source);
  if (made === undefined) {
    if (compiled.size >= COMPILED_LIMIT) compiled.clear();
    made = new Function(`"use strict"; return (${source});`)();
    compiled.set(source, made);
  }
  return made as F;
}

import type { Spans } from "../../columns/spans.js";
import { checkRowLeaves, reportNonFinite } from "./check-finite.js";
import type { Expression } from "./expression.js";
import type { Frame } from "./frame.js";
import { compile } from "./kernel.js";
import { denseReduce, denseWriter } from "./loop-dense.js";
import type { Placement, Reduction } from "./loop-job.js";
import { sparseReduce, sparseWriter } from "./loop-sparse.js";

type Reduced<R extends Reduction> = Record<R, Float64Array>;
/** Writes rows `[from, to)`. */
export type Writer = (from: number, to: number) => void;

/**
 * Reductions of an expression over each row's tokens in `spans`, all in one float64 pass. Rows that are not real, and rows
 * without tokens, give 0. O(rows) when every value is constant over a row, O(non-zero) when tokens are mostly zero.
 * @throws NonFinite when a field's value among the tokens is NaN or infinite (unless `guard` is false).
 */
export function reduce<const R extends Reduction>(
  expression: Expression,
  frame: Frame,
  spans: Spans,
  reductions: readonly R[],
  guard = true,
): Reduced<R> {
  const byResult = carriesNonFinite(expression) && reductions.every((name) => name === "sum" || name === "mean");
  const eachRead = guard && !byResult;
  const program = compile(expression, frame, spans, eachRead);
  if (guard) checkRowLeaves(program, frame, spans);
  const out = Object.fromEntries(reductions.map((name) => [name, new Float64Array(frame.rows)])) as Reduced<R>;
  const job = { program, frame, spans, guard: eachRead };
  const bad = isSparse(program) ? sparseReduce(job, out) : denseReduce(job, out);
  if (guard && byResult) {
    const sums: Float64Array = out[reductions[0]!];
    for (let i = 0; i < frame.rows; i++) if (frame.live[i] === 1 && !Number.isFinite(sums[i])) bad.push(i);
  }
  if (bad.length > 0) reportNonFinite(program, frame, spans, bad);
  return out;
}

/** Operations from which a NaN or an infinity never comes out finite. */
const CARRIERS: readonly string[] = ["add", "sub", "mul", "abs", "square"];

/** Whether a non-finite token shows in the row's sum. If so, the loop need not watch each read, which would take a quarter of its time. */
function carriesNonFinite(expression: Expression): boolean {
  if (expression.kind === "map") return false;
  if (expression.kind !== "operation") return true;
  return CARRIERS.includes(expression.operation) && expression.args.every(carriesNonFinite);
}

/**
 * Prepares writing an expression's values at the tokens of `spans`, row after row (`jagged`) or at their place in a matrix
 * `rows × width` (`dense`). `out` must be zero-filled: rows that are not real are not touched. Called for blocks of rows, so
 * that the result is still in the cache when it is read.
 * @throws NonFinite (when the writer runs) as `reduce`.
 */
export function writer(
  expression: Expression,
  frame: Frame,
  spans: Spans,
  out: Float64Array | Float32Array,
  placement: Placement,
): Writer {
  const program = compile(expression, frame, spans, true);
  checkRowLeaves(program, frame, spans);
  const job = { program, frame, spans, guard: true };
  const write = isSparse(program) ? sparseWriter(job, out, placement) : denseWriter(job, out, placement);
  return (from, to) => {
    const bad = write(from, to);
    if (bad.length > 0) reportNonFinite(program, frame, spans, bad);
  };
}

/** No value per token, or only mostly-zero ones: then the few tokens that differ are visited, not all. */
function isSparse(program: { contiguous: readonly unknown[]; scattered: readonly { column: { kind: string } }[] }) {
  return (
    program.contiguous.length === 0 &&
    program.scattered.every(({ column }) => column.kind === "last" || column.kind === "sparse")
  );
}

import { lastToken, rankOf } from "../../columns/span-walks.js";
import { bindings, cachedFunction, isFloat, type KernelArguments, type Program } from "./kernel.js";
import type { LoopJob, Placement, Reduction, RowLoop } from "./loop-job.js";
import { visitTokens } from "./scatter.js";

/** Value at a token of row i whose mostly-zero columns hold `x`. */
type TokenFunction = (args: KernelArguments, i: number, x: Float64Array) => number;

/** The tokens of one row at which some column is not zero, and the value there; `rest` is the value at all others. */
interface RowValues {
  readonly tokens: number[];
  readonly values: number[];
  /** Tokens of the set that are not in `tokens`. */
  others: number;
  rest: number;
}

/** As `denseReduce`, in O(rows + non-zero tokens). */
export function sparseReduce(job: LoopJob, out: Partial<Record<Reduction, Float64Array>>): number[] {
  const read = rowReader(job);
  const bad: number[] = [];
  for (let i = 0; i < job.frame.rows; i++) {
    const n = job.spans.counts[i]!;
    if (job.frame.real[i] !== 1 || n === 0) continue;
    const row = read(i);
    if (row === undefined) {
      bad.push(i);
      continue;
    }
    if (out.sum) out.sum[i] = sumOf(row);
    if (out.mean) out.mean[i] = row.tokens.length === 0 ? row.rest : sumOf(row) / n;
    if (out.min) out.min[i] = extreme(row, Math.min);
    if (out.max) out.max[i] = extreme(row, Math.max);
    if (out.last) {
      const at = row.tokens.indexOf(lastToken(job.spans, i));
      out.last[i] = at >= 0 ? row.values[at]! : row.rest;
    }
  }
  return bad;
}

/** As `denseWriter`; all tokens of a row but the few are one fill. */
export function sparseWriter(job: LoopJob, out: Float64Array | Float32Array, placement: Placement): RowLoop {
  const read = rowReader(job);
  const { frame, spans } = job;
  return (from, to) => {
    const bad: number[] = [];
    for (let i = from; i < to; i++) {
      if (frame.real[i] !== 1 || spans.counts[i] === 0) continue;
      const row = read(i);
      if (row === undefined) {
        bad.push(i);
        continue;
      }
      const start = placement === "jagged" ? spans.starts[i]! : i * frame.width;
      if (placement === "jagged") out.fill(row.rest, start, spans.starts[i + 1]!);
      else {
        for (let q = spans.offsets[i]!; q < spans.offsets[i + 1]!; q++) {
          out.fill(row.rest, start + spans.bounds[2 * q]!, start + spans.bounds[2 * q + 1]!);
        }
      }
      row.tokens.forEach((token, k) => {
        out[start + (placement === "jagged" ? rankOf(spans, i, token) : token)] = row.values[k]!;
      });
    }
    return bad;
  };
}

/** Reads one row; `undefined` when the row is live and a field among its tokens is not finite. The next call reuses the returned object. */
function rowReader({ program, frame, spans, guard }: LoopJob): (i: number) => RowValues | undefined {
  const value = tokenFunction(program);
  const { scattered, args } = program;
  const x = new Float64Array(scattered.length);
  const row: RowValues = { tokens: [], values: [], others: 0, rest: 0 };
  const held = scattered.map(() => new Map<number, number>());
  const floats = scattered.map(({ column }) => "values" in column && isFloat(column.values));
  return (i) => {
    row.tokens.length = 0;
    row.values.length = 0;
    let finite = true;
    scattered.forEach(({ column }, j) => {
      const own = held[j]!;
      own.clear();
      visitTokens(column, frame, i, (token, v) => {
        if (rankOf(spans, i, token) < 0) return;
        if (guard && floats[j] && v - v !== 0 && frame.live[i] === 1) finite = false;
        if (!held.some((other, k) => k < j && other.has(token))) row.tokens.push(token);
        own.set(token, v);
      });
    });
    if (!finite) return undefined;
    for (const token of row.tokens) {
      for (let j = 0; j < x.length; j++) x[j] = held[j]!.get(token) ?? 0;
      row.values.push(value(args, i, x));
    }
    row.others = spans.counts[i]! - row.tokens.length;
    x.fill(0);
    // Where no such token exists its value must not be computed into anything: 0 × Infinity would be NaN.
    row.rest = row.others > 0 ? value(args, i, x) : 0;
    return row;
  };
}

function sumOf(row: RowValues): number {
  let sum = row.others > 0 ? row.rest * row.others : 0;
  for (const value of row.values) sum += value;
  return sum;
}

function extreme(row: RowValues, pick: (a: number, b: number) => number): number {
  const start = row.others > 0 ? row.rest : row.values[0]!;
  return row.values.reduce((best, value) => pick(best, value), start); // Math.min and Math.max keep NaN
}

function tokenFunction(program: Program): TokenFunction {
  const lines = [...program.rowLines, ...program.tokenLines].map((line) => line.replace(/X(\d+)\[t\]/g, "x[$1]"));
  return cachedFunction<TokenFunction>(`
/* ${program.types} */
function token(args, i, x) {
  ${bindings(program)}
  ${lines.join("\n  ")}
  return ${program.result};
}`);
}

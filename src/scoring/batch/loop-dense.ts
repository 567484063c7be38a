import type { Spans } from "../../columns/spans.js";
import type { Frame } from "./frame.js";
import { bindings, cachedFunction, type KernelArguments, type Program } from "./kernel.js";
import type { LoopJob, Placement, Reduction, RowLoop } from "./loop-job.js";
import { type Scatter, scatterOf } from "./scatter.js";

type Kernel = (
  from: number,
  to: number,
  frame: Frame,
  spans: Spans,
  args: KernelArguments,
  starts: readonly Int32Array[],
  scatter: readonly Scatter[],
  outs: readonly (Float64Array | Float32Array)[],
  bad: number[],
) => void;

const REDUCERS: Record<Reduction, { start: string; step: (value: string) => string; end: string }> = {
  sum: { start: "let sum = 0;", step: (v) => `sum += ${v};`, end: "sum" },
  mean: { start: "let total = 0;", step: (v) => `total += ${v};`, end: "total / n" },
  // A comparison with NaN is false and would hide it: `g` becomes NaN as soon as any value is not finite.
  min: {
    start: "let min = Infinity, gMin = 0;",
    step: (v) => `if (${v} < min) min = ${v}; gMin += ${v} * 0;`,
    end: "min + gMin",
  },
  max: {
    start: "let max = -Infinity, gMax = 0;",
    step: (v) => `if (${v} > max) max = ${v}; gMax += ${v} * 0;`,
    end: "max + gMax",
  },
  last: { start: "let last = 0;", step: (v) => `last = ${v};`, end: "last" },
};

/** One pass over all tokens. @returns live rows in which a field was not finite. */
export function denseReduce(job: LoopJob, out: Partial<Record<Reduction, Float64Array>>): number[] {
  const names = Object.keys(out) as Reduction[];
  const kernel = makeKernel(job.program, {
    start: names.map((name) => REDUCERS[name].start).join(" "),
    run: "",
    token: (value) => names.map((name) => REDUCERS[name].step(value)).join(" "),
    end: names.map((name, j) => `outs[${j}][i] = ${REDUCERS[name].end};`).join(" "),
  });
  return bind(kernel, job, Object.values(out))(0, job.frame.rows);
}

/** One pass that stores each token. The returned function gives the live rows in which a field was not finite. */
export function denseWriter(job: LoopJob, out: Float64Array | Float32Array, placement: Placement): RowLoop {
  const kernel = makeKernel(job.program, {
    // The array type is part of the source, so each type has a function, and monomorphic stores, of its own.
    start: `/* ${out.constructor.name} */ const o = outs[0];`,
    run: placement === "jagged" ? "const w = spans.starts[i] + before[q] - s;" : "const w = i * width;",
    token: (value) => `o[w + t] = ${value};`,
    end: "",
  });
  return bind(kernel, job, [out]);
}

function bind(
  kernel: Kernel,
  { program, frame, spans }: LoopJob,
  outs: readonly (Float64Array | Float32Array)[],
): RowLoop {
  const starts = program.contiguous.map(({ column }) =>
    column.kind === "jagged" ? column.offsets : new Int32Array(0),
  );
  const scatter = program.scattered.map(({ column }) => scatterOf(column, frame));
  return (from, to) => {
    const bad: number[] = [];
    kernel(from, to, frame, spans, program.args, starts, scatter, outs, bad);
    return bad;
  };
}

interface Body {
  readonly start: string;
  readonly run: string;
  readonly token: (value: string) => string;
  readonly end: string;
}

function makeKernel(program: Program, body: Body): Kernel {
  const { contiguous, scattered } = program;
  const bases = contiguous.map(({ column }, j) => {
    if (column.kind === "dense") return `const b${j} = i * width;`;
    // A mask-scoped jagged column holds only mask tokens, one after another; a response-scoped one every response token.
    return column.scope === "mask" ? `const b${j} = S${j}[i] + before[q] - s;` : `const b${j} = S${j}[i];`;
  });
  return cachedFunction<Kernel>(`
/* ${program.types} */
function kernel(from, to, frame, spans, args, starts, scatter, outs, bad) {
  const real = frame.real, live = frame.live, width = frame.width;
  const offsets = spans.offsets, bounds = spans.bounds, before = spans.before, counts = spans.counts;
  ${bindings(program)}
  ${contiguous.map((_, j) => `const S${j} = starts[${j}];`).join("\n  ")}
  ${scattered.map((_, j) => `const X${j} = scatter[${j}].values;`).join("\n  ")}
  for (let i = from; i < to; i++) {
    const n = counts[i];
    if (real[i] !== 1 || n === 0) continue;
    let z = 0;
    ${body.start}
    ${scattered.map((_, j) => `z += scatter[${j}].fill(i, spans);`).join("\n    ")}
    ${program.rowLines.join("\n    ")}
    for (let q = offsets[i], stop = offsets[i + 1]; q < stop; q++) {
      const s = bounds[2 * q], e = bounds[2 * q + 1];
      ${bases.join("\n      ")}
      ${body.run}
      for (let t = s; t < e; t++) {
        ${program.tokenLines.join("\n        ")}
        ${body.token(program.result)}
      }
    }
    ${scattered.map((_, j) => `scatter[${j}].clear();`).join("\n    ")}
    ${body.end}
    if (z !== 0 && live[i] === 1) bad.push(i);
  }
}`);
}

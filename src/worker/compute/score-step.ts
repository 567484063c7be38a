import { encodeResult, type ResultColumns, withoutRows } from "../../columns/encode-result.js";
import type { ExtremeRows } from "../../protocol/statistics-messages.js";
import { createBatch } from "../../scoring/batch/batch.js";
import type { Registry } from "../../scoring/components/registry.js";
import { runPipeline } from "../../scoring/pipeline/pipeline.js";
import { assemble, type Step } from "./assemble.js";
import type { Computed, ComputeRequest } from "./thread-messages.js";

/** Decodes a job's columns, scores, acts, encodes the result: bytes in, bytes out. Errors: DECODE, and those of the pipeline. */
export async function scoreStep(request: ComputeRequest, registry: Registry): Promise<Computed> {
  const started = performance.now();
  const step = assemble(request);
  const decoded = performance.now();
  const batch = createBatch({
    layout: step.layout,
    columns: step.columns,
    ...(step.padding ? { isPadding: step.padding } : {}),
    ...(step.layout.lengths ? { lengths: step.layout.lengths } : {}),
  });
  const { spec, run, step: number, trigger, state } = request;
  const outcome = await runPipeline({
    spec,
    registry,
    batch,
    run: { run, step: number, trigger },
    ...(state && { state }),
  });
  const acted = performance.now();
  // A policy's candidates are prompts: their weights have neither mask nor padding.
  const beside = spec.policy === undefined && outcome.weights !== undefined ? layoutColumns(step) : {};
  const { weights, kept, dropped, extremes, remember, ...facts } = outcome;
  const made = { ...beside, ...(weights && { weights }), ...(kept && { kept }), ...(dropped && { dropped }) };
  const { columns, body } = encodeResult({ width: step.layout.width, ...made });
  const timings = { decode: decoded - started, score: acted - decoded, encode: performance.now() - acted };
  return {
    body,
    ...(remember && { remember }),
    header: {
      kind: "result",
      pipeline: spec.name,
      mechanism: spec.mechanism,
      stage: spec.stage,
      rows: step.layout.rows,
      width: step.layout.width,
      columns,
      bytes: body.byteLength,
      ...facts,
      ...(extremes && { extremes: named(extremes, step) }),
      timings,
    },
  };
}

/** What a trainer needs to assign weights to rows or tokens. */
function layoutColumns({ layout, padding }: Step): Pick<ResultColumns, "mask" | "is_padding"> {
  return {
    ...(layout.mask && { mask: withoutRows(layout.mask, padding) }),
    ...(padding && { is_padding: padding }),
  };
}

/** A uid helps people find their row; a longer one would only enlarge the header. */
const UID_LENGTH = 64;

function named(extremes: ExtremeRows, { columns }: Step): ExtremeRows {
  const uid = columns.get("uid");
  if (uid?.kind !== "strings") return extremes;
  return { ...extremes, uids: extremes.rows.map((row) => uid.table[uid.index[row]!]!.slice(0, UID_LENGTH)) };
}

import type { Redis } from "ioredis";
import { decodeColumns } from "../columns/decode.js";
import type { MaskColumn, Weights } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import { checkOutcomeHeader } from "../protocol/check-messages.js";
import { unpack } from "../protocol/codec.js";
import type { Handle, OutcomeHeader, ResultHeader } from "../protocol/messages.js";
import { readChunks } from "../redis/chunk-stream.js";
import type { StepKeys } from "../redis/keys.js";
import { type Entry, parseEntries } from "../redis/streams.js";

/** The outcome of one pipeline, as an entry of the step's `out` stream. */
export interface Outcome {
  readonly header: OutcomeHeader;
  readonly body: Uint8Array;
}

/** Outcomes after `lastId`, waiting up to `blockMs` (0: not at all). */
export async function readOutcomes(redis: Redis, key: string, lastId: string, blockMs: number): Promise<Entry[]> {
  const answer =
    blockMs > 0
      ? await redis.xreadBuffer("COUNT", 64, "BLOCK", blockMs, "STREAMS", key, lastId)
      : await redis.xreadBuffer("COUNT", 64, "STREAMS", key, lastId);
  return parseEntries((answer as [Buffer, [Buffer, Buffer[]][]][] | null)?.[0]?.[1]);
}

/** Hashes of the puts from which an outcome was computed; undefined for a failure that was computed from none. */
export function putHashes(entry: Entry): ReadonlySet<string> | undefined {
  const text = String(entry.fields.puts ?? "");
  return text === "" ? undefined : new Set(text.split(","));
}

/** Reads an entry's body, from its chunks if it is not inline. */
export async function loadOutcome(redis: Redis, keys: StepKeys, entry: Entry): Promise<Outcome> {
  const header = checkOutcomeHeader(unpack(entry.fields.header ?? new Uint8Array()));
  const chunks = Number(String(entry.fields.chunks));
  if (chunks === 0) return { header, body: entry.fields.body! };
  const parts = await readChunks(redis, `${keys.prefix}${String(entry.fields.result)}`, 0, chunks - 1);
  return { header, body: Buffer.concat(parts) };
}

/** A pipeline's result as the trainer gets it. Weights are float32; `(rows,)` or over the live tokens of `(rows, width)`. */
export interface PipelineResult
  extends Omit<ResultHeader, "v" | "kind" | "columns" | "bytes" | "chunks" | "chunk_bytes" | "attempt"> {
  readonly name: string;
  readonly compact: Weights | undefined;
  /** The mask that scoring read, padding rows empty. */
  readonly mask: MaskColumn | undefined;
  readonly padding: ArrayLike<number> | undefined;
  readonly kept: Int32Array | undefined;
  /** Rows with weight 0 for a value that was not finite (`on_nonfinite: drop`), ascending. */
  readonly dropped: Int32Array | undefined;
}

/** Errors: the failure that settled the pipeline, rebuilt; DECODE. */
export function decodeOutcome(handle: Handle, { header, body }: Outcome): PipelineResult {
  if (header.kind === "failure") {
    const { code, pipeline, stage } = header;
    const message = `pipeline "${pipeline}" (${stage}): ${header.message}`;
    const failure = { code, message, details: { ...header.details, pipeline, stage } };
    throw DataflexError.fromFailure(failure, DataflexError.fromFailure(header));
  }
  const columns = decodeColumns(header.columns, body, handle.limits);
  const mask = columns.get("mask");
  const weights = columns.get("weights");
  const kept = columns.get("kept");
  const dropped = columns.get("dropped");
  const padding = columns.get("is_padding");
  let compact: Weights | undefined;
  if (weights?.kind === "vector") compact = { kind: "row", values: float32(weights.values) };
  else if (weights?.kind === "jagged")
    compact = { kind: "token", offsets: weights.offsets, values: float32(weights.values) };
  else if (weights)
    throw new DataflexError("DECODE", `result of "${header.pipeline}": weights came as ${weights.kind}`, {});
  const {
    v: _v,
    kind: _kind,
    columns: _columns,
    bytes: _bytes,
    chunks: _chunks,
    chunk_bytes: _size,
    attempt: _attempt,
    ...rest
  } = header;
  return {
    ...rest,
    name: header.pipeline,
    compact,
    mask: mask?.kind === "lengths" || mask?.kind === "runs" ? mask : undefined,
    padding: padding?.kind === "vector" ? padding.values : undefined,
    kept: kept?.kind === "vector" ? Int32Array.from(kept.values) : undefined,
    dropped: dropped?.kind === "vector" ? Int32Array.from(dropped.values) : undefined,
  };
}

/** In place if they are float32 already: nothing else refers to a result's body. */
function float32(values: ArrayLike<number>): Float32Array {
  return values instanceof Float32Array ? values : new Float32Array(values);
}

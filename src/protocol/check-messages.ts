import { FIELD_KINDS } from "../columns/field-kinds.js";
import { checkRanges, countRows } from "../columns/row-ranges.js";
import { SCOPES } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import type { Handle, JobData, OutcomeHeader, PutHeader } from "./messages.js";
import type { MountReply, MountRequest } from "./mount-messages.js";
import { MECHANISMS, type PipelineSpec } from "./pipeline-spec.js";
import * as is from "./shape.js";
import { STAGES } from "./stages.js";
import type { ReleaseReport } from "./statistics-messages.js";

/** One check for every kind of message, called where the message enters a process, before any of it is used. */
const stage = is.oneOf(STAGES);
const mechanism = is.oneOf(MECHANISMS);
const granularity = is.oneOf(["row", "token", "domain"]);
const words = is.listOf(is.text);
const numbers = is.mapOf(is.real);
const step = is.such("a step's key", (v) => typeof v === "string" && /^\d+\.\d+$/.test(v));

/** The number of chunks must be that of the body's bytes. */
const body = { bytes: is.count, chunks: is.count, chunk_bytes: is.positive };
const chunksFit: is.Shape = (value) => {
  const { bytes, chunks, chunk_bytes } = value as Pick<PutHeader, "bytes" | "chunks" | "chunk_bytes">;
  const due = Math.ceil(bytes / chunk_bytes);
  return chunks === due ? undefined : `chunks is ${chunks}, but ${bytes} bytes in chunks of ${chunk_bytes} are ${due}`;
};

const ranges: is.Shape = (value, path) => is.listOf(is.count)(value, path) ?? badRanges(value as number[], path);
function badRanges(value: readonly number[], path: string): string | undefined {
  try {
    return value.length % 2 === 0 ? void checkRanges(value, Number.MAX_SAFE_INTEGER) : `${path} has no even length`;
  } catch (error) {
    return `${path} is no list of row ranges: ${DataflexError.from(error).message}`;
  }
}

const columns = is.listOf(is.keys({ name: is.name, shape: is.listOf(is.count), parts: is.mapOf(is.listOf(is.count)) }));
const rowsFit: is.Shape = (value) => {
  const header = value as PutHeader;
  const rows = countRows(header.rows);
  if ((header.rows.at(-1) ?? 0) > header.total_rows) return `rows go beyond the ${header.total_rows} of total_rows`;
  const odd = header.columns.find((c) => c.shape[0] !== rows);
  return odd && `columns: "${odd.name}" has ${odd.shape[0]} rows, the put has ${rows}`;
};
export const checkPutHeader = is.checker<PutHeader>(
  "put header",
  [chunksFit, rowsFit].reduce(
    is.both,
    is.keys({ v: is.count, id: is.name, hash: is.name, stage, total_rows: is.count, rows: ranges, columns, ...body }),
  ),
);

export const checkJobData = is.checker<JobData>(
  "job",
  is.keys({
    run: is.name,
    incarnation: is.count,
    step,
    stage,
    pipeline: is.name,
    attempt: is.count,
    content: is.text,
    shard: is.listOf(is.count),
    deadline: is.real,
    added: is.real,
  }),
);

const statistics = is.keys({
  n: is.real,
  mean: is.real,
  std: is.real,
  min: is.real,
  max: is.real,
  ess_ratio: is.real,
  kept_ratio: is.real,
  zero_ratio: is.real,
});
const bins = { counts: is.listOf(is.real), sum: is.real };
const producer = is.keys({ worker: is.text, pid: is.real, job_id: is.text }, { version: is.text });
const outcome = { v: is.count, pipeline: is.name, stage, attempt: is.count, producer };
const result = is.keys(
  {
    ...outcome,
    ...body,
    mechanism,
    granularity,
    rows: is.count,
    ranges,
    width: is.count,
    columns,
    metrics: numbers,
    flags: words,
    warnings: words,
    timings: numbers,
  },
  {
    proportions: numbers,
    stats: statistics,
    score_stats: is.keys({ n: is.real, mean: is.real, std: is.real }),
    distribution: is.keys({}, { weights: is.keys({ ...bins, quantiles: is.listOf(is.real) }), scores: is.keys(bins) }),
    extremes: is.keys(
      { rows: is.listOf(is.count), weights: is.listOf(is.real) },
      { scores: is.listOf(is.real), uids: words },
    ),
  },
);
const failure = is.keys({ ...outcome, code: is.name, message: is.text, details: is.mapOf(is.anything) });
const kind = is.keys({ kind: is.oneOf(["result", "failure"]) });
export const checkOutcomeHeader = is.checker<OutcomeHeader>(
  "outcome header",
  is.both(kind, (value, path) =>
    (value as OutcomeHeader).kind === "result" ? is.both(result, chunksFit)(value, path) : failure(value, path),
  ),
);

export const checkReleaseReport = is.checker<ReleaseReport>(
  "release report",
  is.keys(
    { wait_ms: is.real },
    {
      combined: is.keys(
        {
          level: is.oneOf(["sample", "token"]),
          stats: statistics,
          clipped: is.keys({ low: is.real, high: is.real }),
        },
        { product: statistics },
      ),
      neutral: is.name,
      unreported: is.count,
    },
  ),
);

const component = is.keys({ name: is.name, params: is.mapOf(is.anything) });
const fields = is.listOf(is.keys({ name: is.name }, { scope: is.oneOf(SCOPES), kind: is.oneOf(FIELD_KINDS) }));
const spec: Record<Exclude<keyof PipelineSpec, keyof typeof specOptions>, is.Shape> = {
  name: is.name,
  mechanism,
  stage,
  actuator: component,
  fields,
  fingerprint: is.name,
  granularity,
  normalize: is.oneOf(["none", "row", "token"]),
  on_nonfinite: is.oneOf(["error", "drop", "neutral"]),
  on_empty: is.oneOf(["drop_all", "keep_all", "error"]),
  on_incomplete_group: is.oneOf(["error", "score"]),
  warmup_step: is.real,
  update_step: is.real,
  window: is.real,
  shadow: is.flag,
};
const specOptions = {
  scorer: component,
  group_size: is.positive,
  keep_when_short: is.positive,
  domains: words,
  domain_key: is.name,
  prior: is.listOf(is.real),
  policy: is.keys({ role: is.oneOf(["select", "feed"]) }, { fed_by: is.name }),
  remembers: is.flag,
};
const limits = is.keys({
  chunk_bytes: is.positive,
  inline_bytes: is.count,
  max_put_bytes: is.positive,
  max_rows: is.positive,
  max_width: is.positive,
  max_tokens: is.positive,
  max_string_bytes: is.positive,
  step_ttl_ms: is.positive,
});
const handle = {
  v: is.count,
  run: is.name,
  mount_id: is.name,
  limits,
  stages: is.mapOf(fields),
  pipelines: is.listOf(is.keys(spec, specOptions)),
  composition: is.keys(
    { combine: is.oneOf(["multiply", "replace"]), rescale: is.oneOf(["none", "row", "token"]) },
    { clip: is.listOf(is.real) },
  ),
  max_wait_ms: is.real,
  on_unavailable: is.oneOf(["error", "neutral"]),
  warnings: words,
};
export const checkHandle = is.checker<Handle>("handle", is.keys({ ...handle, incarnation: is.positive }));

/** The trainer's settings and fields are checked by `resolveMount`, which names every problem at once. */
export const checkMountRequest = is.checker<MountRequest>(
  "mount request",
  is.keys({
    v: is.listOf(is.count),
    kind: is.oneOf(["mount"]),
    mount_id: is.name,
    run: is.name,
    takeover: is.flag,
    deadline: is.count,
  }),
);

const answered = is.keys({
  answer: is.keys(
    { ok: is.flag },
    { handle: is.anything, code: is.name, message: is.text, problems: is.listOf(is.mapOf(is.anything)) },
  ),
});
export const checkMountReply = is.checker<MountReply>(
  "mount reply",
  is.both(is.keys({ state: is.oneOf(["answered", "waiting"]) }), (value, path) =>
    (value as MountReply).state === "answered" ? answered(value, path) : is.keys({ for: is.text })(value, path),
  ),
);

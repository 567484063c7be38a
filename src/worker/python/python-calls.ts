import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { StateValue } from "../../protocol/saved-state.js";
import type { Batch } from "../../scoring/batch/batch.js";
import { liveRows } from "../../scoring/batch/frame.js";
import { RowVector } from "../../scoring/batch/row-vector.js";
import { NonFinite } from "../../scoring/batch/signals.js";
import type { TokenField } from "../../scoring/batch/token-field.js";
import type { Context } from "../../scoring/components/component-types.js";
import type { ForeignCall, ForeignDeclaration } from "../../scoring/components/foreign.js";
import type { Registry } from "../../scoring/components/registry.js";
import type { DomainSeries } from "../../scoring/mix/series.js";
import { Bodies, callColumns } from "./call-columns.js";
import type { Frame } from "./frames.js";
import type { CallReply, PythonMemory } from "./host-messages.js";
import type { PythonLink } from "./python-link.js";

/** Calls a job's components that run in Python; one job at a time. */
export class PythonCalls implements ForeignCall {
  readonly #link: PythonLink;
  #pipeline = "";
  /** What an actuator may know about the scorer whose scores it gets. */
  #scorer: Readonly<Record<string, unknown>> | undefined;
  /** What the process held after the job's last call. */
  memory: PythonMemory | undefined;

  constructor(link: PythonLink) {
    this.#link = link;
  }

  /** The following calls belong to this pipeline. */
  begin({ name, scorer }: PipelineSpec, registry: Registry): void {
    this.#pipeline = name;
    this.memory = undefined;
    const found = scorer && registry.find("scorer", scorer.name);
    this.#scorer = found && {
      ...scorer,
      requires: found.needs.map((need) => need.name),
      timing: found.timing,
      // In the terms of DataFlex-RL, whose classes may read it.
      granularity: found.granularity === "token" ? "token" : "response",
      needs_groups: found.needs_groups,
    };
  }

  async score(declared: ForeignDeclaration, batch: Batch, ctx: Context<unknown>) {
    const token = declared.granularity === "token";
    return this.#onRows(declared, "score", token ? "token" : "row", undefined, batch, ctx);
  }

  async act(declared: ForeignDeclaration, scores: RowVector | TokenField, batch: Batch, ctx: Context<unknown>) {
    const shape = scores instanceof RowVector ? "row" : "token";
    return this.#onRows(declared, "act", shape, scores, batch, ctx);
  }

  async remember(
    declared: ForeignDeclaration,
    scores: RowVector | TokenField,
    batch: Batch,
    ctx: Context<unknown>,
  ): Promise<readonly StateValue[]> {
    const { bodies, header } = this.#rowCall(declared, scores, batch, ctx);
    const { reply } = await this.#call(declared, { ...header, role: "remember" }, bodies, liveRows(batch.frame), ctx);
    return reply.facts ?? [];
  }

  async propose(declared: ForeignDeclaration, series: DomainSeries, ctx: Context<unknown>): Promise<Float64Array> {
    const facts = {
      domains: series.domains,
      means: series.means(0),
      slopes: series.slopes(0),
      counts: series.counts(),
      prior: series.prior,
    };
    const header = { ...this.#common(declared, ctx), role: "propose", series: facts };
    const { values } = await this.#call(declared, header, [], new Int32Array(0), ctx);
    return Float64Array.from(values);
  }

  async #onRows(
    declared: ForeignDeclaration,
    role: "score" | "act",
    shape: "row" | "token",
    scores: RowVector | TokenField | undefined,
    batch: Batch,
    ctx: Context<unknown>,
  ): Promise<RowVector & TokenField & Int32Array> {
    const rows = liveRows(batch.frame);
    const { bodies, header } = this.#rowCall(declared, scores, batch, ctx);
    const { reply, values } = await this.#call(declared, { ...header, role, shape }, bodies, rows, ctx);
    const answer =
      reply.form === "tokens"
        ? batch.tokens(tokensOf(values, rows, batch))
        : reply.form === "kept"
          ? Int32Array.from(values, (k) => rows[k]!)
          : new RowVector(scattered(values, rows, batch.rows), batch.frame);
    return answer as RowVector & TokenField & Int32Array;
  }

  #rowCall(
    declared: ForeignDeclaration,
    scores: RowVector | TokenField | undefined,
    batch: Batch,
    ctx: Context<unknown>,
  ) {
    const rows = liveRows(batch.frame);
    const bodies = new Bodies();
    const columns = callColumns(batch, rows, bodies);
    const given = scores && {
      shape: scores instanceof RowVector ? "row" : "token",
      scores: bodies.add(
        scores instanceof RowVector ? Float64Array.from(rows, (i) => scores.values[i]!) : liveTokens(scores, rows),
      ),
    };
    return { bodies: bodies.all, header: { ...this.#common(declared, ctx), ...columns, ...given } };
  }

  #common(declared: ForeignDeclaration, ctx: Context<unknown>) {
    const { kind, name } = declared;
    const pipeline = this.#pipeline;
    return {
      kind,
      name,
      params: ctx.params,
      run: ctx.run,
      pipeline,
      step: ctx.step,
      trigger: ctx.trigger,
      seed: [ctx.run, ctx.step, ctx.trigger, pipeline, kind, name].join("\u0000"),
      history: ctx.history,
      ...(this.#scorer && { scorer: this.#scorer }),
    };
  }

  async #call(
    declared: ForeignDeclaration,
    header: Readonly<Record<string, unknown>>,
    bodies: readonly Uint8Array[],
    rows: Int32Array,
    ctx: Context<unknown>,
  ): Promise<{ reply: CallReply; values: Float32Array | Float64Array | Int32Array }> {
    const frame = await this.#link.call(header, bodies);
    const reply = frame.header as unknown as CallReply;
    this.memory = reply.memory;
    if (reply.failure) throw failureOf(declared, reply.failure, rows);
    for (const text of reply.warnings ?? []) ctx.warn(text);
    for (const [metric, amount] of Object.entries(reply.metrics ?? {})) ctx.count(metric, amount);
    return { reply, values: valuesOf(frame, reply.type) };
  }
}

function failureOf(declared: ForeignDeclaration, failure: NonNullable<CallReply["failure"]>, rows: Int32Array): Error {
  const { code, message, details } = failure;
  if (code === "NON_FINITE") {
    const bad = (details.rows as number[]).map((k) => rows[k]!);
    const column = typeof details.column === "number" ? details.column : undefined;
    return new NonFinite(String(details.source), bad, column, Number(details.value));
  }
  const { kind, name: component, file } = declared;
  return DataflexError.fromFailure({
    code: code as DataflexError["code"],
    message,
    details: { kind, component, plugin: file, ...details },
  });
}

const ARRAYS = { f4: Float32Array, f8: Float64Array, i4: Int32Array } as const;

function valuesOf(frame: Frame, type: string | undefined): Float32Array | Float64Array | Int32Array {
  const body = frame.bodies[0];
  const array = ARRAYS[type as keyof typeof ARRAYS];
  if (body === undefined || array === undefined) return new Float64Array(0);
  return new array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength / array.BYTES_PER_ELEMENT);
}

/** One number per live row → one per row, 0 in the others. */
function scattered(values: ArrayLike<number>, rows: Int32Array, total: number): Float64Array {
  const out = new Float64Array(total);
  rows.forEach((row, k) => {
    out[row] = values[k]!;
  });
  return out;
}

/** Tokens of the live rows → tokens of all rows, 0 in the others. */
function tokensOf(values: ArrayLike<number> & Iterable<number>, rows: Int32Array, batch: Batch): Float64Array {
  const { tokenStarts: starts } = batch;
  const total = starts[batch.rows]!;
  if (values.length === total) return Float64Array.from(values);
  const out = new Float64Array(total);
  let at = 0;
  for (const row of rows) for (let k = starts[row]!; k < starts[row + 1]!; k++) out[k] = values[at++]!;
  return out;
}

function liveTokens(scores: TokenField, rows: Int32Array): Float64Array {
  const values = scores.toArray();
  const { starts } = scores.frame.mask;
  if (rows.length === scores.frame.rows) return values;
  const out = new Float64Array(rows.reduce((sum, row) => sum + starts[row + 1]! - starts[row]!, 0));
  let at = 0;
  for (const row of rows) {
    const own = values.subarray(starts[row]!, starts[row + 1]!);
    out.set(own, at);
    at += own.length;
  }
  return out;
}

import type { Redis } from "ioredis";
import { gatherMask } from "../columns/gather-mask.js";
import { fromBitmap, toBitmap } from "../columns/row-ranges.js";
import type { MaskColumn } from "../columns/tensor.js";
import { unpack } from "../protocol/codec.js";
import type { Handle } from "../protocol/messages.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import { type RowTable, type Stage, tableOf } from "../protocol/stages.js";
import type { ReleaseReport } from "../protocol/statistics-messages.js";
import { HASH_DIGITS, runKeys, type StepKeys } from "../redis/keys.js";
import type { Committed } from "../redis/scripts/commit-put.js";
import { readStoredPuts } from "../redis/stored-puts.js";
import { combinedReport } from "./combined-report.js";
import type { Composed } from "./compose.js";
import { answeredWithin } from "./deadline.js";
import { type KeptPut, KeptPuts } from "./kept-puts.js";
import type { PipelineResult } from "./outcomes.js";
import type { FixedRows } from "./plan-rows.js";
import type { PreparedPut } from "./prepare.js";
import { sendPut } from "./put.js";
import { type KeyTable, keyTable } from "./rows.js";

interface OpenStep {
  readonly tables: Map<RowTable, KeyTable>;
  readonly spans: Map<Stage, readonly number[]>;
  /** Keys in the order of this producer's last put that named every row of its stage. */
  readonly orders: Map<Stage, readonly string[]>;
  /** The highest in any receipt. */
  attempt: number;
  waitedMs: number;
  /** The last composition that went into the loss. */
  composed?: Composed;
  /** The results of the last wait for all pipelines, and their attempt. */
  read?: { readonly attempt: number; readonly results: readonly PipelineResult[] };
  /** performance.now of the last put. */
  touched: number;
}

/** One round trip. */
const LOOK_MS = 2_000;

/** What a put was meant to hold. */
export interface PutMeaning {
  readonly stage: Stage;
  readonly table: KeyTable | undefined;
  /** Keys in the caller's order, if they name every row of the stage. */
  readonly order: readonly string[] | undefined;
  readonly span: readonly number[] | undefined;
}

/** What a producer keeps of the steps that it has put and that are not released yet. */
export class OpenSteps {
  readonly #redis: Redis;
  readonly #handle: Handle;
  readonly #steps = new Map<string, OpenStep>();
  readonly #puts = new KeptPuts();

  constructor(redis: Redis, handle: Handle) {
    this.#redis = redis;
    this.#handle = handle;
  }

  /** Number of copies that were dropped before their step was read or released, because all together had become too large. */
  get copiesDropped(): number {
    return this.#puts.dropped;
  }

  attempt(stepKey: string): number {
    return this.#steps.get(stepKey)?.attempt ?? 1;
  }
  /** The report for a release; undefined if this producer has put nothing of the step. */
  report(stepKey: string): ReleaseReport | undefined {
    const open = this.#steps.get(stepKey);
    if (!open) return undefined;
    const combined = open.composed && combinedReport(open.composed);
    return { wait_ms: open.waitedMs, ...(combined && { combined }) };
  }
  composed(stepKey: string, composed: Composed): void {
    const open = this.#steps.get(stepKey);
    if (open) open.composed = composed;
  }

  keep(stepKey: string, put: PreparedPut, meaning: PutMeaning, done: Committed): void {
    const open: OpenStep = this.#steps.get(stepKey) ?? {
      tables: new Map(),
      spans: new Map(),
      orders: new Map(),
      attempt: 1,
      waitedMs: 0,
      touched: 0,
    };
    this.#steps.set(stepKey, open);
    const { stage, table, order, span } = meaning;
    if (table) open.tables.set(tableOf(stage), table);
    if (order) open.orders.set(stage, order);
    if (span) open.spans.set(stage, span);
    open.attempt = Math.max(open.attempt, done.attempt);
    open.touched = performance.now();
    if (done.kind !== "DUPLICATE") delete open.read;
    this.#puts.keep(stepKey, put, table, done.attempt);
  }

  /** A wait has ended with `results`. With `everything` no put is needed any more: the results are kept instead. */
  settled(stepKey: string, waitedMs: number, results: readonly PipelineResult[], everything: boolean): void {
    const open = this.#steps.get(stepKey);
    if (!open) return;
    open.waitedMs += waitedMs;
    if (!everything) return;
    open.read = { attempt: open.attempt, results };
    this.#puts.forget(stepKey);
  }

  /**
   * What was read before, unless a put was replaced since. If Redis has forgotten the step, or is away, that changes nothing:
   * the outcome was computed from these puts.
   */
  async readBefore(stepKey: string): Promise<readonly PipelineResult[] | undefined> {
    const read = this.#steps.get(stepKey)?.read;
    if (!read) return undefined;
    const asked = () => this.#redis.hmget(this.#keys(stepKey).status, "attempt", "released");
    const [attempt, released] = await answeredWithin(LOOK_MS, "weights", asked).catch(() => [null, null]);
    if (released) return undefined;
    return attempt == null || Number(attempt) <= read.attempt ? read.results : undefined;
  }

  forget(stepKey: string): void {
    this.#steps.delete(stepKey);
    this.#puts.forget(stepKey);
  }

  /** The mask of these rows, if earlier puts contained it. */
  maskOf(stepKey: string, stage: Stage, ranges: readonly number[]): MaskColumn | undefined {
    const puts = this.#puts.of(stepKey).filter(({ put }) => put.header.stage === stage);
    const pieces = puts.flatMap(({ put }) => (put.layout.mask ? [{ mask: put.layout.mask, ranges: put.ranges }] : []));
    return gatherMask(pieces, ranges);
  }

  /** What earlier puts have fixed of the step's rows. `fresh`: as it now is in Redis. */
  async fixed(stepKey: string, stage: Stage, fresh: boolean): Promise<FixedRows> {
    const open = this.#steps.get(stepKey);
    const rows = tableOf(stage);
    const known = { table: open?.tables.get(rows), span: open?.spans.get(stage) };
    if (known.table && known.span && !fresh) return known as FixedRows;
    const names = [`keys:${rows}`, `rows:${rows}`, `span:${stage}`];
    const [blob, total, span] = await this.#redis.hmgetBuffer(this.#keys(stepKey).status, ...names);
    const table = blob ? keyTable(unpack(blob) as string[]) : fresh ? undefined : known.table;
    return { ...(table && { table }), ...(span && { span: fromBitmap(span, Number(String(total))) }) };
  }

  /** Keys of all rows of a table, if this producer or another named them. */
  async keysOf(stepKey: string, rows: RowTable): Promise<readonly string[] | undefined> {
    const open = this.#steps.get(stepKey);
    if (open) return open.tables.get(rows)?.keys;
    const blob = await this.#redis.hgetBuffer(this.#keys(stepKey).status, `keys:${rows}`);
    return blob ? (unpack(blob) as string[]) : undefined;
  }
  order(stepKey: string, stage: Stage): readonly string[] | undefined {
    return this.#steps.get(stepKey)?.orders.get(stage);
  }

  /** Whether an outcome belongs to what this producer has put: its attempt is not older, and it was computed from the puts that are kept here. */
  accepts(stepKey: string, pipeline: PipelineSpec, attempt: number, hashes: ReadonlySet<string> | undefined): boolean {
    if (attempt < this.attempt(stepKey)) return false;
    if (hashes === undefined) return true;
    const fields = new Set(pipeline.fields.map((f) => f.name));
    return this.#puts
      .of(stepKey)
      .filter(({ put }) => put.header.stage === pipeline.stage && put.fields.some((name) => fields.has(name)))
      .every(({ put }) => hashes.has(put.header.hash.slice(0, HASH_DIGITS)));
  }

  /**
   * Puts again what Redis lacks of the step, or has in an older state than was acknowledged. One by one: another producer may have put
   * its part since. The copy of a put that another producer has replaced is dropped. Returns whether anything was sent. Errors: those of a put.
   */
  async restore(stepKey: string): Promise<boolean> {
    const kept = this.#puts.of(stepKey);
    if (kept.length === 0) return false;
    const keys = this.#keys(stepKey);
    const names = kept.map(({ put }) => `${put.header.stage}:${put.header.id}`);
    const [released, there] = await Promise.all([
      this.#redis.hget(keys.status, "released"),
      readStoredPuts(this.#redis, keys, names),
    ]);
    if (released) return false;
    let sent = false;
    for (const [i, one] of kept.entries()) {
      const have = there[i];
      if (have?.hash === one.put.header.hash) continue;
      if (have && have.attempt >= one.attempt) this.#puts.drop(stepKey, one);
      else {
        await this.#send(stepKey, one, have !== undefined);
        sent = true;
      }
    }
    return sent;
  }

  async #send(stepKey: string, kept: KeptPut, replace: boolean): Promise<void> {
    const { put, table } = kept;
    const rows = this.#steps.get(stepKey)?.spans.get(put.header.stage);
    const span = rows && toBitmap(rows, put.header.total_rows);
    const commit = { step: stepKey, table, span, replace, floor: this.attempt(stepKey) };
    const done = await sendPut(this.#redis, this.#handle, put, commit);
    const open = this.#steps.get(stepKey);
    if (open) open.attempt = Math.max(open.attempt, done.attempt);
    kept.attempt = done.attempt;
  }

  /**
   * Looks after the steps for which no call is waiting: puts again what Redis has lost, renews the TTL of the rest, and drops the copies of
   * released steps and, for a producer that does not release steps itself, of steps that have settled or are past their deadline.
   */
  async tend(owner: boolean): Promise<void> {
    for (const [stepKey, open] of this.#steps) {
      if (this.#puts.of(stepKey).length === 0) continue;
      const keys = this.#keys(stepKey);
      const pipelines = this.#handle.pipelines.map((p) => `settled:${p.name}`);
      const [released, ...settled] = await this.#redis.hmget(keys.status, "released", ...pipelines);
      const done = settled.every((word) => word != null);
      const late = performance.now() - open.touched > this.#handle.max_wait_ms;
      this.#puts.settled(stepKey, done);
      if (released || (!owner && (done || late))) this.#puts.forget(stepKey);
      else {
        await this.restore(stepKey);
        await this.#keepAlive(stepKey, keys);
      }
    }
  }

  /** Streams of puts get their TTL when they are written, but are needed for as long as the step lasts. */
  async #keepAlive(stepKey: string, keys: StepKeys): Promise<void> {
    const ttl = this.#handle.limits.step_ttl_ms;
    const due = this.#puts.of(stepKey).filter((kept) => performance.now() - kept.renewed > ttl / 4);
    if (due.length === 0) return;
    const renewing = this.#redis.pipeline();
    for (const kept of due) {
      const { stage, id, hash } = kept.put.header;
      renewing.pexpire(keys.put(stage, id, hash), ttl);
      kept.renewed = performance.now();
    }
    await renewing.exec();
  }

  /** For steps that this producer does not release itself: they are forgotten once no put of them is kept. */
  forgetSettled(): void {
    for (const stepKey of this.#steps.keys()) if (this.#puts.of(stepKey).length === 0) this.#steps.delete(stepKey);
  }

  #keys(stepKey: string): StepKeys {
    return runKeys(this.#handle.run).step(this.#handle.incarnation, stepKey);
  }
}

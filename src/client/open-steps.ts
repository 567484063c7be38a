import type { Redis } from "ioredis";
import { gatherMask } from "../columns/gather-mask.js";
import type { MaskColumn } from "../columns/tensor.js";
import { unpack } from "../protocol/codec.js";
import type { Handle, ReleaseReport } from "../protocol/messages.js";
import type { Stage } from "../protocol/stages.js";
import { runKeys } from "../redis/keys.js";
import type { CommitOptions, Committed } from "../redis/scripts/commit-put.js";
import { combinedReport } from "./combined-report.js";
import type { Composed } from "./compose.js";
import type { PreparedPut } from "./prepare.js";
import { sendPut } from "./put.js";
import { type KeyTable, keyTable } from "./rows.js";

interface OpenStep {
  /** Enough to put the step again if Redis has forgotten it; none once it has settled. */
  puts: { readonly put: PreparedPut; readonly commit: Commit }[];
  readonly tables: Map<Stage, KeyTable>;
  attempt: number;
  waitedMs: number;
  /** What went to the loss last. */
  composed?: Composed;
  /** Date.now of the last put. */
  touched: number;
}

type Commit = CommitOptions & { readonly table: KeyTable | undefined };

/** What a producer keeps of the steps that it has put and that are not released yet. */
export class OpenSteps {
  readonly #redis: Redis;
  readonly #handle: Handle;
  readonly #steps = new Map<string, OpenStep>();

  constructor(redis: Redis, handle: Handle) {
    this.#redis = redis;
    this.#handle = handle;
  }

  attempt(stepKey: string): number {
    return this.#steps.get(stepKey)?.attempt ?? 1;
  }
  /** The report to send on release; undefined when this producer has put nothing of the step. */
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

  keep(stepKey: string, put: PreparedPut, commit: Commit, done: Committed): void {
    const open = this.#steps.get(stepKey) ?? { puts: [], tables: new Map(), attempt: 1, waitedMs: 0, touched: 0 };
    const { id, stage } = put.header;
    open.puts = open.puts.filter((p) => p.put.header.id !== id || p.put.header.stage !== stage);
    // Chunks may be views of the trainer's arrays, which it may fill with the next step once its put is answered.
    const own = { ...put, chunks: put.chunks.map((chunk) => chunk.slice()) };
    open.puts.push({ put: own, commit: { ...commit, replace: false } });
    if (commit.table) open.tables.set(stage, commit.table);
    open.attempt = done.attempt;
    open.touched = Date.now();
    this.#steps.set(stepKey, open);
  }

  /** A wait has ended with every outcome: nothing needs to be put again. */
  settled(stepKey: string, waitedMs: number, everything: boolean): void {
    const open = this.#steps.get(stepKey);
    if (!open) return;
    open.waitedMs += waitedMs;
    if (everything) open.puts = [];
  }

  forget(stepKey: string): void {
    this.#steps.delete(stepKey);
  }

  /** The mask of these rows, when earlier puts brought it. */
  maskOf(stepKey: string, stage: Stage, ranges: readonly number[]): MaskColumn | undefined {
    const puts = this.#steps.get(stepKey)?.puts.filter(({ put }) => put.header.stage === stage) ?? [];
    const pieces = puts.flatMap(({ put }) => (put.layout.mask ? [{ mask: put.layout.mask, ranges: put.ranges }] : []));
    return gatherMask(pieces, ranges);
  }

  /** The row table that the stage's first put fixed, if it had keys. `fresh`: as Redis has it now. */
  async table(stepKey: string, stage: Stage, fresh: boolean): Promise<KeyTable | undefined> {
    const known = this.#steps.get(stepKey)?.tables.get(stage);
    if (known && !fresh) return known;
    const status = runKeys(this.#handle.run).step(this.#handle.incarnation, stepKey).status;
    const blob = await this.#redis.hgetBuffer(status, `keys:${stage}`);
    return blob ? keyTable(unpack(blob) as string[]) : undefined;
  }

  /**
   * Puts again what Redis does not know of the step. One by one: another producer may have put its part since Redis lost all.
   * Returns whether anything was missing. Errors: those of a put.
   */
  async restore(stepKey: string): Promise<boolean> {
    const puts = this.#steps.get(stepKey)?.puts ?? [];
    if (puts.length === 0) return false;
    const status = runKeys(this.#handle.run).step(this.#handle.incarnation, stepKey).status;
    const names = puts.map(({ put }) => `hash:${put.header.stage}:${put.header.id}`);
    const [released, ...known] = await this.#redis.hmget(status, "released", ...names);
    const lost = released ? [] : puts.filter((_, i) => known[i] == null);
    for (const { put, commit } of lost) await sendPut(this.#redis, this.#handle, put, commit);
    return lost.length > 0;
  }

  /**
   * Maintains the steps that no wait covers: puts again what Redis has forgotten, and drops the puts of steps that have settled, were
   * released, or are past their deadline. Without it a producer that only puts would keep every step for ever.
   */
  async tend(): Promise<void> {
    const keys = runKeys(this.#handle.run);
    for (const [stepKey, open] of this.#steps) {
      if (open.puts.length === 0) continue;
      const status = keys.step(this.#handle.incarnation, stepKey).status;
      const pipelines = this.#handle.pipelines.map((p) => `settled:${p.name}`);
      const [released, ...settled] = await this.#redis.hmget(status, "released", ...pipelines);
      const late = Date.now() - open.touched > this.#handle.max_wait_ms;
      if (released || late || settled.every((word) => word != null)) open.puts = [];
      else await this.restore(stepKey);
    }
  }

  /** For a producer that releases no steps: forgets those whose puts are no longer needed. */
  forgetSettled(): void {
    for (const [stepKey, open] of this.#steps) if (open.puts.length === 0) this.#steps.delete(stepKey);
  }
}

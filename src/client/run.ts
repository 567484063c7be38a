import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import { every } from "../lifecycle.js";
import { pack, unpack } from "../protocol/codec.js";
import { LAYOUT_COLUMNS } from "../protocol/field-names.js";
import type { FieldInput } from "../protocol/input.js";
import type { Handle, PipelineSpec } from "../protocol/messages.js";
import type { Stage } from "../protocol/stages.js";
import { HEARTBEAT_MS, runKeys, stepKey } from "../redis/keys.js";
import { restoreRun, trainerBeat } from "../redis/mounts.js";
import { runScript, text } from "../redis/scripts/index.js";
import type { BlockingPool } from "./blocking-pool.js";
import { type PreparedPut, preparePut } from "./prepare.js";
import { type CommitOptions, type Committed, sendPut } from "./put.js";
import { type KeyTable, keyTable, planKeys, planRange, type RowPlan, refuseDuplicates } from "./rows.js";
import type { StepResult } from "./step-result.js";
import { waitForStep } from "./wait.js";

export interface PutOptions {
  /** Rows of the whole step; default: the rows of this put. */
  readonly total_rows?: number;
  /** Half-open range of the rows that this put holds; default: all. */
  readonly rows?: readonly [number, number];
  /** A key a row. The first put of a (step, stage) names all of them, later ones any part, in any order. */
  readonly keys?: readonly string[];
  /** Response lengths; needed for `response`-scoped fields that come padded. */
  readonly lengths?: ArrayLike<number>;
  /** Rows that only fill the batch up: they count nowhere and get weight 0. */
  readonly is_padding?: readonly boolean[];
  /** For trainers that update several times a step. Default 0. */
  readonly trigger?: number;
  /** Other content for a put made before: opens a new attempt of the step. */
  readonly replace?: boolean;
}

export interface WeightsOptions {
  /** Default: the run's `max_wait_ms`. */
  readonly timeoutMs?: number;
  /** Only the pipelines of these stages. Default: all. */
  readonly stages?: readonly Stage[];
  readonly trigger?: number;
}

/** What the client keeps of a step until it settles: enough to put it again if Redis has forgotten it. */
export interface OpenStep {
  readonly puts: { put: PreparedPut; commit: CommitOptions }[];
  attempt: number;
  waitedMs: number;
}

/** A mounted run in the hands of one producer. */
export class Run {
  readonly handle: Handle;
  readonly #redis: Redis;
  readonly #pool: BlockingPool;
  readonly #open = new Map<string, OpenStep>();
  readonly #tables = new Map<string, KeyTable>();
  readonly #stopBeat: (() => Promise<void>) | undefined;
  #fenced = false;
  #closed = false;

  /** `owner`: this producer mounted the run and keeps it alive; others attached and fence nobody. */
  constructor(redis: Redis, pool: BlockingPool, handle: Handle, owner: boolean) {
    this.#redis = redis;
    this.#pool = pool;
    this.handle = handle;
    if (owner)
      this.#stopBeat = every(
        HEARTBEAT_MS,
        () => this.#beat(),
        () => {},
      );
  }

  /** Stages at which this run wants fields, with the fields. Nothing else travels. */
  get wants(): Handle["stages"] {
    return this.handle.stages;
  }

  /**
   * Posts fields of a step at a stage. Answers the fields that travelled (the others were not asked for) and the step's attempt.
   * Errors: INVALID_INPUT, LIMIT, FENCED, RELEASED, PUT_CONFLICT, ROWS_CONFLICT, REDIS_FULL, CLOSED.
   */
  async put(
    step: number,
    stage: Stage,
    fields: Readonly<Record<string, FieldInput>>,
    options: PutOptions = {},
  ): Promise<{ sent: string[]; attempt: number; kind: string }> {
    this.#assertUsable();
    const at = stepKey(checkStep(step), options.trigger ?? 0);
    const wanted = new Set((this.handle.stages[stage] ?? []).map((f) => f.name));
    const mine = Object.fromEntries(Object.entries(fields).filter(([name]) => wanted.has(name)));
    if (Object.keys(mine).length === 0)
      return { sent: [], attempt: this.#open.get(at)?.attempt ?? 1, kind: "NOTHING_WANTED" };
    for (let again = false; ; again = true) {
      const { plan, table, total } = await this.#plan(at, stage, mine, options, again);
      const mask = this.#maskOf(at, stage, plan);
      const put = preparePut(this.handle, {
        stage,
        fields: mine,
        total_rows: total,
        ranges: plan.ranges,
        ...(plan.order ? { order: plan.order } : {}),
        ...(options.lengths ? { lengths: options.lengths } : {}),
        ...(options.is_padding ? { is_padding: options.is_padding } : {}),
        ...(mask ? { mask } : {}),
      });
      try {
        const commit = { step: at, table, replace: options.replace ?? false };
        const done = await sendPut(this.#redis, this.handle, put, commit);
        this.#keep(at, put, commit, done);
        return { sent: [...put.fields], attempt: done.attempt, kind: done.kind };
      } catch (error) {
        // Another producer fixed the row table first: read it, and put in its order.
        const raced =
          error instanceof DataflexError && error.code === "ROWS_CONFLICT" && error.details.reason === "keys";
        if (!raced || again) throw error;
      }
    }
  }

  /**
   * Waits for the outcomes of the step's delivered pipelines. Errors: the failure that settled one of them; TIMEOUT with a
   * diagnosis (which field, broker or worker was missing), unless `on_unavailable` is neutral.
   */
  async weights(step: number, options: WeightsOptions = {}): Promise<StepResult> {
    this.#assertUsable();
    const trigger = options.trigger ?? 0;
    const at = stepKey(checkStep(step), trigger);
    const expected = this.handle.pipelines.filter(
      (p) => !p.shadow && (!options.stages || options.stages.includes(p.stage)),
    );
    const open = this.#open.get(at);
    const result = await waitForStep({
      redis: this.#redis,
      pool: this.#pool,
      handle: this.handle,
      at: { step, trigger, key: at },
      expected,
      timeoutMs: options.timeoutMs ?? this.handle.max_wait_ms,
      putAgain: () => this.#putAgain(at),
      alive: () => this.#assertUsable(),
    });
    if (open) {
      open.waitedMs += result.waitedMs;
      if (allPipelines(expected, this.handle)) open.puts.length = 0;
    }
    return result;
  }

  /** Done with the step: its keys go, at once or when the last pipeline still at work has settled. */
  async release(step: number, options: { trigger?: number } = {}): Promise<"BURIED" | "PENDING" | "UNKNOWN"> {
    this.#assertUsable();
    const at = stepKey(checkStep(step), options.trigger ?? 0);
    const keys = runKeys(this.handle.run);
    const report = this.#open.get(at)?.waitedMs;
    const { word, rest } = await runScript(
      this.#redis,
      "release",
      [keys.mount, keys.step(this.handle.incarnation, at).status, keys.steps, keys.notices],
      [
        this.handle.incarnation,
        this.handle.run,
        at,
        this.handle.limits.step_ttl_ms,
        report === undefined ? "" : pack({ wait_ms: report }),
      ],
    );
    this.#forget(at);
    if (word === "FENCED") this.#fenced = true;
    return word === "OK" ? (text(rest[0]) as "BURIED" | "PENDING" | "UNKNOWN") : "UNKNOWN";
  }

  /** Ends the heartbeat and says goodbye, so that the run may be mounted again at once. Open steps stay until their TTL. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#stopBeat?.();
    if (this.#stopBeat && this.#redis.status === "ready") await trainerBeat(this.#redis, this.handle, true);
  }

  async #plan(
    at: string,
    stage: Stage,
    fields: Readonly<Record<string, FieldInput>>,
    o: PutOptions,
    fresh: boolean,
  ): Promise<{ plan: RowPlan; table: KeyTable | undefined; total: number }> {
    const rows = o.keys?.length ?? (o.rows ? o.rows[1] - o.rows[0] : rowCount(fields));
    const total = o.total_rows ?? rows;
    if (!Number.isInteger(total) || total < 0 || total > this.handle.limits.max_rows) {
      throw new DataflexError(
        "LIMIT",
        `total_rows is ${total}; it must be a whole number up to ${this.handle.limits.max_rows}`,
        { total },
      );
    }
    if (!o.keys) return { plan: planRange(o.rows, total), table: undefined, total };
    refuseDuplicates(o.keys);
    const table = await this.#table(at, stage, fresh);
    if (table) return { plan: planKeys(o.keys, table.keys), table, total: o.total_rows ?? table.keys.length };
    if (o.keys.length !== total) {
      throw new DataflexError(
        "INVALID_INPUT",
        `the first put of stage ${stage} with keys names all ${total} of them, this one ${o.keys.length}`,
        { total },
      );
    }
    const made = keyTable(o.keys);
    this.#tables.set(`${at} ${stage}`, made);
    return { plan: { ranges: total > 0 ? [0, total] : [] }, table: made, total };
  }

  /** The row table that the stage's first put fixed, if it had keys. */
  async #table(at: string, stage: Stage, fresh: boolean): Promise<KeyTable | undefined> {
    const known = this.#tables.get(`${at} ${stage}`);
    if (known && !fresh) return known;
    const status = runKeys(this.handle.run).step(this.handle.incarnation, at).status;
    const blob = await this.#redis.hgetBuffer(status, `keys:${stage}`);
    if (!blob) return undefined;
    const table = keyTable(unpack(blob) as string[]);
    this.#tables.set(`${at} ${stage}`, table);
    return table;
  }

  #maskOf(at: string, stage: Stage, plan: RowPlan) {
    const same = this.#open
      .get(at)
      ?.puts.find(
        ({ put }) => put.header.stage === stage && put.layout.mask && put.ranges.join() === plan.ranges.join(),
      );
    return same?.put.layout.mask;
  }

  #keep(at: string, put: PreparedPut, commit: CommitOptions, done: Committed): void {
    const open = this.#open.get(at) ?? { puts: [], attempt: 1, waitedMs: 0 };
    const others = open.puts.filter(
      (p) => p.put.header.id !== put.header.id || p.put.header.stage !== put.header.stage,
    );
    open.puts.splice(0, open.puts.length, ...others, { put, commit: { ...commit, replace: false } });
    open.attempt = done.attempt;
    this.#open.set(at, open);
  }

  async #putAgain(at: string): Promise<boolean> {
    const open = this.#open.get(at);
    for (const { put, commit } of open?.puts ?? []) await sendPut(this.#redis, this.handle, put, commit);
    return (open?.puts.length ?? 0) > 0;
  }

  #forget(at: string): void {
    this.#open.delete(at);
    for (const key of this.#tables.keys()) if (key.startsWith(`${at} `)) this.#tables.delete(key);
  }

  async #beat(): Promise<void> {
    const word = await trainerBeat(this.#redis, this.handle);
    if (word === "FENCED") this.#fenced = true;
    else if (word === "NOT_MOUNTED") this.#fenced = !(await restoreRun(this.#redis, this.handle));
  }

  #assertUsable(): void {
    if (this.#closed) throw new DataflexError("CLOSED", `run "${this.handle.run}" was closed by this client`);
    if (this.#fenced) {
      throw new DataflexError(
        "FENCED",
        `run "${this.handle.run}": incarnation ${this.handle.incarnation} was replaced by a later trainer; this one must stop`,
      );
    }
  }
}

function checkStep(step: number): number {
  if (!Number.isSafeInteger(step) || step < 0)
    throw new DataflexError("INVALID_INPUT", `step is ${step}; it must be a whole number ≥ 0`, { step });
  return step;
}

function allPipelines(expected: readonly PipelineSpec[], handle: Handle): boolean {
  return expected.length === handle.pipelines.filter((p) => !p.shadow).length;
}

/** Rows of the first field that has any: all fields of a put must agree, which encoding checks. */
function rowCount(fields: Readonly<Record<string, FieldInput>>): number {
  for (const [name, value] of Object.entries(fields)) {
    if ((LAYOUT_COLUMNS as readonly string[]).includes(name)) continue;
    if (Array.isArray(value)) return value.length;
    const input = value as { shape?: readonly number[]; lengths?: ArrayLike<number>; values?: ArrayLike<unknown> };
    const rows = input.shape?.[0] ?? input.lengths?.length ?? input.values?.length;
    if (rows !== undefined) return rows;
  }
  return 0;
}

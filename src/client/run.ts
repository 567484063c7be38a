import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import { every } from "../lifecycle.js";
import type { SavedState } from "../mix/state.js";
import { pack } from "../protocol/codec.js";
import type { FieldInput } from "../protocol/input.js";
import type { Handle, PipelineSpec } from "../protocol/messages.js";
import { countRows } from "../protocol/row-ranges.js";
import type { Stage } from "../protocol/stages.js";
import { HEARTBEAT_MS, runKeys, stepKey } from "../redis/keys.js";
import { restoreRun, trainerBeat } from "../redis/mounts.js";
import { runScript, text } from "../redis/scripts/index.js";
import type { BlockingPool } from "./blocking-pool.js";
import { answeredWithin } from "./deadline.js";
import {
  checkNames,
  checkObject,
  checkRowOptions,
  checkStage,
  checkStep,
  checkTimeout,
  checkTotal,
  checkTrigger,
} from "./guard.js";
import { OpenSteps } from "./open-steps.js";
import { preparePut } from "./prepare.js";
import { sendPut } from "./put.js";
import { type KeyTable, keyTable, planKeys, planRange, type RowPlan, refuseDuplicates, rowCount } from "./rows.js";
import type { PutOptions, WeightsOptions } from "./run-options.js";
import { loadState, saveState } from "./state.js";
import type { StepResult } from "./step-result.js";
import { waitForStep } from "./wait.js";

/** One small script; more than this is an absent Redis. */
const RELEASE_MS = 30_000;
const GOODBYE_MS = 2_000;
/** Some megabytes at most, and nothing waits for it. */
const STATE_MS = 60_000;

/** A mounted run in the hands of one producer. */
export class Run {
  readonly handle: Handle;
  readonly #redis: Redis;
  readonly #pool: BlockingPool;
  readonly #steps: OpenSteps;
  readonly #owner: boolean;
  readonly #stopBeat: () => Promise<void>;
  #fenced = false;
  #closed = false;

  /** `owner`: this producer mounted the run and keeps it alive; others attached and fence nobody. */
  constructor(redis: Redis, pool: BlockingPool, handle: Handle, owner: boolean) {
    this.#redis = redis;
    this.#pool = pool;
    this.handle = handle;
    this.#owner = owner;
    this.#steps = new OpenSteps(redis, handle);
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
   * Errors: INVALID_INPUT, LIMIT, FENCED, RELEASED, PUT_CONFLICT, ROWS_CONFLICT, REDIS_FULL,
   * REDIS_UNREACHABLE (it may have arrived all the same; putting again is harmless), CLOSED.
   */
  async put(
    step: number,
    stage: Stage,
    fields: Readonly<Record<string, FieldInput>>,
    options: PutOptions = {},
  ): Promise<{ sent: string[]; attempt: number; kind: string }> {
    this.#assertUsable();
    const at = stepKey(checkStep(step), checkTrigger(options.trigger ?? 0));
    checkObject(fields, "fields", "{ advantages: …, response_mask: … }");
    const timeoutMs = checkTimeout(options.timeoutMs ?? this.handle.max_wait_ms, 1);
    const wanted = new Set((this.handle.stages[checkStage(stage)] ?? []).map((f) => f.name));
    const mine = Object.fromEntries(Object.entries(fields).filter(([name]) => wanted.has(name)));
    if (Object.keys(mine).length === 0) return { sent: [], attempt: this.#steps.attempt(at), kind: "NOTHING_WANTED" };
    const what = `put of step ${at} at ${stage}`;
    return answeredWithin(timeoutMs, what, this.#put(at, stage, mine, options));
  }

  async #put(at: string, stage: Stage, mine: Readonly<Record<string, FieldInput>>, options: PutOptions) {
    for (let again = false; ; again = true) {
      const { plan, table, total } = await this.#plan(at, stage, mine, options, again);
      const mask = this.#steps.maskOf(at, stage, plan.ranges);
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
        this.#steps.keep(at, put, commit, done);
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
    const trigger = checkTrigger(options.trigger ?? 0);
    const at = stepKey(checkStep(step), trigger);
    options.stages?.forEach(checkStage);
    const timeoutMs = checkTimeout(options.timeoutMs ?? this.handle.max_wait_ms, 0);
    const expected = this.handle.pipelines.filter(
      (p) => !p.shadow && (!options.stages || options.stages.includes(p.stage)),
    );
    const result = await waitForStep({
      redis: this.#redis,
      pool: this.#pool,
      handle: this.handle,
      at: { step, trigger, key: at },
      expected,
      timeoutMs,
      restore: () => this.#steps.restore(at),
      alive: () => this.#assertUsable(),
    });
    this.#steps.settled(at, result.waitedMs, allPipelines(expected, this.handle));
    return result.whenComposed((composed) => this.#steps.composed(at, composed));
  }

  /** Done with the step: its keys go, at once or when the last pipeline still at work has settled. Errors: REDIS_UNREACHABLE, CLOSED. */
  async release(step: number, options: { trigger?: number } = {}): Promise<"BURIED" | "PENDING" | "UNKNOWN"> {
    this.#assertUsable();
    const at = stepKey(checkStep(step), checkTrigger(options.trigger ?? 0));
    const keys = runKeys(this.handle.run);
    const report = this.#steps.report(at);
    const asked = runScript(
      this.#redis,
      "release",
      [keys.mount, keys.step(this.handle.incarnation, at).status, keys.steps, keys.notices],
      [
        this.handle.incarnation,
        this.handle.run,
        at,
        this.handle.limits.step_ttl_ms,
        report === undefined ? "" : pack(report),
      ],
    );
    const { word, rest } = await answeredWithin(RELEASE_MS, `release of step ${at}`, asked);
    this.#steps.forget(at);
    if (word === "FENCED") this.#fenced = true;
    return word === "OK" ? (text(rest[0]) as "BURIED" | "PENDING" | "UNKNOWN") : "UNKNOWN";
  }

  /**
   * What a mix pipeline or a pre-rollout policy remembers, as plain data for the trainer's checkpoint.
   * Errors: INVALID_INPUT for a pipeline that remembers nothing, REDIS_UNREACHABLE, CLOSED.
   */
  mixState(pipeline: string): Promise<SavedState> {
    this.#assertUsable();
    const what = `reading the state of pipeline "${pipeline}"`;
    return answeredWithin(STATE_MS, what, saveState(this.#redis, this.handle, pipeline));
  }

  /**
   * Puts a checkpoint's state in the place of what Redis has; call it after mounting, before the first put.
   * Errors: INVALID_INPUT, FENCED, NOT_MOUNTED, REDIS_FULL, REDIS_UNREACHABLE, CLOSED.
   */
  restoreMixState(pipeline: string, state: SavedState): Promise<void> {
    this.#assertUsable();
    const what = `restoring the state of pipeline "${pipeline}"`;
    return answeredWithin(STATE_MS, what, loadState(this.#redis, this.handle, pipeline, state));
  }

  /** Ends the heartbeat and says goodbye, so that the run may be mounted again at once. Open steps stay until their TTL. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#stopBeat();
    if (!this.#owner || this.#redis.status !== "ready") return;
    // The goodbye is manners: without it the run stays busy for one heartbeat.
    await answeredWithin(GOODBYE_MS, "close", trainerBeat(this.#redis, this.handle, true)).catch(() => {});
  }

  async #plan(
    at: string,
    stage: Stage,
    fields: Readonly<Record<string, FieldInput>>,
    o: PutOptions,
    fresh: boolean,
  ): Promise<{ plan: RowPlan; table: KeyTable | undefined; total: number }> {
    if (o.keys !== undefined) checkNames(o.keys, "keys");
    const rows = o.keys?.length ?? (o.rows ? o.rows[1] - o.rows[0] : rowCount(fields));
    const total = checkTotal(o.total_rows ?? rows, this.handle.limits.max_rows);
    if (!o.keys) {
      const plan = planRange(o.rows, total);
      checkRowOptions(o, countRows(plan.ranges));
      return { plan, table: undefined, total };
    }
    checkRowOptions(o, rows);
    refuseDuplicates(o.keys);
    const table = await this.#steps.table(at, stage, fresh);
    if (table) return { plan: planKeys(o.keys, table.keys), table, total: o.total_rows ?? table.keys.length };
    if (o.keys.length !== total) {
      throw new DataflexError(
        "INVALID_INPUT",
        `the first put of stage ${stage} with keys names all ${total} of them, this one ${o.keys.length}`,
        { total },
      );
    }
    return { plan: { ranges: total > 0 ? [0, total] : [] }, table: keyTable(o.keys), total };
  }

  /** Keeps the run's mount and its open steps alive; an attached producer looks after its own steps alone. */
  async #beat(): Promise<void> {
    if (this.#fenced) return;
    if (this.#owner) {
      const word = await trainerBeat(this.#redis, this.handle);
      if (word === "FENCED") this.#fenced = true;
      else if (word === "NOT_MOUNTED") this.#fenced = !(await restoreRun(this.#redis, this.handle));
    }
    await this.#steps.tend();
    if (!this.#owner) this.#steps.forgetSettled();
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

function allPipelines(expected: readonly PipelineSpec[], handle: Handle): boolean {
  return expected.length === handle.pipelines.filter((p) => !p.shadow).length;
}

import type { Redis } from "ioredis";
import type { FieldInput } from "../columns/input.js";
import { DataflexError } from "../errors.js";
import type { Handle } from "../protocol/messages.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import type { SavedState } from "../protocol/saved-state.js";
import { type Stage, tableOf } from "../protocol/stages.js";
import { stepKeyOf } from "../redis/keys.js";
import { releaseStep } from "../redis/scripts/release.js";
import { alignResult, lastStage, rowsOfStep, type StepRows } from "./align.js";
import { asWanted } from "./as-wanted.js";
import type { BlockingPool } from "./blocking-pool.js";
import { answeredWithin } from "./deadline.js";
import { checkObject, checkStage, checkStep, checkTimeout, checkTrigger, checkWait } from "./guard.js";
import { refuseMisspelt } from "./misspelt.js";
import { MountedRun } from "./mounted-run.js";
import { NeutralSteps, type PutReceipt } from "./neutral.js";
import type { PipelineResult } from "./outcomes.js";
import { posting } from "./posting.js";
import type { PutOptions, WeightsOptions } from "./run-options.js";
import { loadState, saveState } from "./run-state.js";
import { type Released, RunStep } from "./run-step.js";
import { ridingSessions } from "./sessions.js";
import { StepResult } from "./step-result.js";
import { waitForStep } from "./wait.js";

/** One small script: a Redis that takes longer counts as unreachable. */
const RELEASE_MS = 30_000;
/** One value of 32 MiB at most. */
const KEYS_MS = 10_000;
/** A few megabytes at most, and no step waits for it. */
const STATE_MS = 60_000;

/** A mounted run in the hands of one producer. */
export class Run extends MountedRun {
  readonly #pool: BlockingPool;
  readonly #neutral: NeutralSteps;

  constructor(redis: Redis, pool: BlockingPool, handle: Handle, owner: boolean) {
    super(redis, handle, owner);
    this.#pool = pool;
    this.#neutral = new NeutralSteps(handle);
  }

  /** Stages at which this run wants fields, with the fields. Nothing else travels. */
  get wants(): Handle["stages"] {
    return this.handle.stages;
  }

  /** Steps that trained without weights under `on_unavailable: neutral`. */
  get neutralSteps(): number {
    return this.#neutral.count;
  }

  /** Copies of acknowledged puts that this producer no longer keeps, for all of them had become too large: they are not put again. */
  get copiesDropped(): number {
    return this.steps.copiesDropped;
  }

  /**
   * Posts fields of a step at a stage. Returns the fields that travelled (the others were not asked for) and the step's attempt.
   * Errors: INVALID_INPUT, LIMIT, FENCED, RELEASED, PUT_CONFLICT, ROWS_CONFLICT, CLOSED; REDIS_FULL, REDIS_REFUSED, REDIS_DENIED and
   * REDIS_UNREACHABLE (it may have arrived all the same; putting again is harmless), unless `on_unavailable` is neutral: then `kind` is
   * UNAVAILABLE and the step's weights are neutral.
   */
  async put(
    step: number,
    stage: Stage,
    fields: Readonly<Record<string, FieldInput>>,
    options: PutOptions = {},
  ): Promise<PutReceipt> {
    this.assertUsable();
    const stepKey = stepKeyOf(checkStep(step), checkTrigger(options.trigger ?? 0));
    checkObject(fields, "fields", "{ advantages: …, response_mask: … }");
    const timeoutMs = checkTimeout(options.timeoutMs ?? this.handle.max_wait_ms, 1);
    const needs = this.handle.stages[checkStage(stage)] ?? [];
    const wanted = needs.filter(({ name }) => Object.hasOwn(fields, name));
    refuseMisspelt(this.handle, stage, fields);
    const sessions = ridingSessions(fields, needs);
    if (wanted.length === 0) return { sent: [], attempt: this.steps.attempt(stepKey), kind: "NOTHING_WANTED" };
    const mine = Object.fromEntries(wanted.map((need) => [need.name, asWanted(need, fields[need.name])]));
    const what = `put of step ${stepKey} at ${stage}`;
    const send = posting(this.redis, this.handle, this.steps, { stepKey, stage, fields: mine, sessions, options });
    const put = answeredWithin(timeoutMs, what, send);
    return this.#neutral.sent(stepKey, this.steps.attempt(stepKey), put);
  }

  /**
   * Waits for the outcomes of the step's delivered pipelines. Errors: the failure that settled one of them; TIMEOUT with a
   * diagnosis (which field, broker or worker was missing), unless `on_unavailable` is neutral.
   */
  async weights(step: number, options: WeightsOptions = {}): Promise<StepResult> {
    this.assertUsable();
    const trigger = checkTrigger(options.trigger ?? 0);
    const stepKey = stepKeyOf(checkStep(step), trigger);
    options.stages?.forEach(checkStage);
    const timeoutMs = checkTimeout(options.timeoutMs ?? this.handle.max_wait_ms, 0);
    checkWait(timeoutMs, this.handle.max_wait_ms);
    const expected = this.handle.pipelines.filter(
      (p) => !p.shadow && (!options.stages || options.stages.includes(p.stage)),
    );
    const started = performance.now();
    let results: readonly PipelineResult[] = [];
    let rows: StepRows | undefined;
    let neutral: DataflexError | undefined;
    try {
      this.#neutral.check(stepKey);
      const everything = allPipelines(expected, this.handle);
      const before = everything ? await this.steps.readBefore(stepKey) : undefined;
      results = before ?? (await this.#wait(stepKey, expected, timeoutMs));
      rows = await this.#rowsOf(stepKey, results);
      this.#neutral.weighed(stepKey);
      this.steps.settled(stepKey, performance.now() - started, results, everything);
    } catch (error) {
      neutral = this.#neutral.trained(stepKey, error);
      results = [];
      this.steps.settled(stepKey, performance.now() - started, [], false);
    }
    const waitedMs = performance.now() - started;
    const about = { step, trigger, waitedMs, ...(rows?.keys && { keys: rows.keys }) };
    const aligned = rows ? results.map((result) => alignResult(result, rows)) : results;
    return new StepResult(this.handle, about, aligned, neutral, (composed) => this.steps.composed(stepKey, composed));
  }

  #wait(stepKey: string, expected: readonly PipelineSpec[], timeoutMs: number): Promise<PipelineResult[]> {
    return waitForStep({
      redis: this.redis,
      pool: this.#pool,
      handle: this.handle,
      stepKey,
      expected,
      timeoutMs,
      restore: () => this.steps.restore(stepKey),
      accepts: (p, attempt, hashes) => this.steps.accepts(stepKey, p, attempt, hashes),
      alive: () => this.assertUsable(),
    });
  }

  /** The rows that the step's weights are for, and their order: this producer's own, where it named keys. */
  async #rowsOf(stepKey: string, results: readonly PipelineResult[]): Promise<StepRows | undefined> {
    const last = lastStage(results);
    if (last === undefined) return undefined;
    const reading = () => this.steps.keysOf(stepKey, tableOf(last));
    const table = await answeredWithin(KEYS_MS, `the row keys of step ${stepKey}`, reading);
    return rowsOfStep(results, last, table, this.steps.order(stepKey, last));
  }

  /**
   * Done with the step: its keys go, at once (BURIED) or when the last pipeline still at work has settled (PENDING); UNKNOWN: there was
   * no such step. Errors: CLOSED; REDIS_UNREACHABLE, REDIS_REFUSED, REDIS_DENIED, unless `on_unavailable` is neutral: then the step is
   * forgotten here (UNAVAILABLE), and what Redis has of it goes with its TTL.
   */
  async release(step: number, options: { trigger?: number } = {}): Promise<Released> {
    this.assertUsable();
    const stepKey = stepKeyOf(checkStep(step), checkTrigger(options.trigger ?? 0));
    const { run, incarnation, limits } = this.handle;
    const report = this.#neutral.report(stepKey, this.steps.report(stepKey));
    const asked = () => releaseStep(this.redis, { run, incarnation, step: stepKey }, limits, report);
    const patience = this.#neutral.patience(stepKey, RELEASE_MS);
    const answer = await answeredWithin(patience, `release of step ${stepKey}`, asked).catch((error) => {
      if (!this.#neutral.covers(DataflexError.from(error))) throw error;
    });
    this.steps.forget(stepKey);
    this.#neutral.released(stepKey, answer !== undefined);
    if (!answer) return "UNAVAILABLE";
    if (answer.word === "FENCED") this.fenced = true;
    if (this.owner) this.released.add(stepKey);
    return answer.word === "OK" ? answer.released : "UNKNOWN";
  }

  /**
   * Uses a step and releases it, also where `use` throws: then its error is thrown, whatever becomes of the release.
   * @returns what `use` returns
   */
  async step<T>(step: number, use: (step: RunStep) => Promise<T>, options: { trigger?: number } = {}): Promise<T> {
    const own = new RunStep(this, checkStep(step), checkTrigger(options.trigger ?? 0));
    let used: T;
    try {
      used = await use(own);
    } catch (error) {
      await own.release().catch(() => {});
      throw error;
    }
    await own.release();
    return used;
  }

  /**
   * What a mix pipeline, a pre-rollout policy or a selector with a memory remembers, as plain data for the trainer's checkpoint.
   * Errors: INVALID_INPUT for a pipeline that remembers nothing, CLOSED, and those of Redis (`REDIS_…`).
   */
  mixState(pipeline: string): Promise<SavedState> {
    this.assertUsable();
    const what = `reading the state of pipeline "${pipeline}"`;
    return answeredWithin(STATE_MS, what, () => saveState(this.redis, this.handle, pipeline));
  }

  /**
   * Puts a checkpoint's state in the place of what Redis has; call it after mounting, before the first put.
   * Errors: INVALID_INPUT, FENCED, NOT_MOUNTED, CLOSED, and those of Redis (`REDIS_…`).
   */
  restoreMixState(pipeline: string, state: SavedState): Promise<void> {
    this.assertUsable();
    const what = `restoring the state of pipeline "${pipeline}"`;
    return answeredWithin(STATE_MS, what, () => loadState(this.redis, this.handle, pipeline, state));
  }
}

function allPipelines(expected: readonly PipelineSpec[], handle: Handle): boolean {
  return expected.length === handle.pipelines.filter((p) => !p.shadow).length;
}

import type { Redis } from "ioredis";
import { faultPoint } from "../fault-points.js";
import type { Logger } from "../log.js";
import type { Handle, JobData, PipelineSpec } from "../protocol/messages.js";
import { redisNow } from "../redis/connect.js";
import { ALL_TAGS, MOUNT_TTL_MS, type RunKeys, runKeys, tagKeys } from "../redis/keys.js";
import { Handles, readHandle } from "../redis/mounts.js";
import type { Queues } from "../redis/queue/queues.js";
import { settleFailure } from "../redis/settle.js";
import { parseState, pending, type StepState, stateFields } from "../redis/step-state.js";
import { Unserved } from "./unserved.js";

/** Open steps read from the index at a time. */
const PAGE = 256;

/** Turns complete steps into jobs, from state alone. */
export class Steps {
  readonly #redis: Redis;
  readonly #queues: Queues;
  readonly #log: Logger;
  readonly #producer: { worker: string; pid: number; job_id: string };
  readonly #handles: Handles;
  readonly #unserved: Unserved;

  constructor(redis: Redis, queues: Queues, id: string, log: Logger) {
    this.#redis = redis;
    this.#handles = new Handles(redis);
    this.#unserved = new Unserved(redis, log);
    this.#queues = queues;
    this.#log = log;
    this.#producer = { worker: `broker:${id}`, pid: process.pid, job_id: "" };
  }

  /** Adds the jobs that one step needs now; `stage` limits the look to the pipelines of an announcement. */
  async enqueue(run: string, incarnation: number, step: string, stage?: string): Promise<void> {
    const keys = runKeys(run);
    const handle = await this.#handles.get(run, incarnation);
    if (!handle) return;
    const pipelines = handle.pipelines.filter((p) => stage === undefined || p.stage === stage);
    const [state, added] = await Promise.all([this.#state(keys, incarnation, step, pipelines), redisNow(this.#redis)]);
    faultPoint("broker.state-read");
    if (!state || added > state.deadline) return;
    const needed = pending(state, pipelines);
    await Promise.all(needed.map((p) => this.#queues.add(p.fingerprint, job(run, incarnation, step, p, state, added))));
    if (needed.length > 0) faultPoint("broker.job-added");
  }

  /**
   * Redis' status is the truth and the queue a to-do list that can be rebuilt: re-adds what is complete and unsettled, and
   * settles as EXPIRED what is past its deadline, so that nobody waits for it for ever.
   */
  async walk(): Promise<void> {
    const now = await redisNow(this.#redis);
    const served = await this.#unserved.served();
    for (const tag of ALL_TAGS) {
      const { runs, base } = tagKeys(tag);
      for (const encoded of await this.#redis.zrange(runs, "0", "-1")) {
        await this.#walkRun(`${base}:${encoded}`, runs, encoded, now, served);
      }
    }
  }

  async #walkRun(
    runBase: string,
    runs: string,
    encoded: string,
    now: number,
    served: ReadonlySet<string>,
  ): Promise<void> {
    const blob = await readHandle(this.#redis, { mount: `${runBase}:mount` });
    if (!blob) return this.#forgetRun(runBase, runs, encoded, now);
    const keys = runKeys(blob.run);
    this.#handles.set(blob);
    await this.#unserved.look(encoded, blob, served);
    for (const member of await this.#openSteps(keys)) {
      const colon = member.indexOf(":");
      const [incarnation, step] = [Number(member.slice(0, colon)), member.slice(colon + 1)];
      if (incarnation !== blob.incarnation) {
        await this.#redis.zrem(keys.steps, member);
        continue;
      }
      const state = await this.#state(keys, incarnation, step, blob.pipelines);
      if (!state) await this.#redis.zrem(keys.steps, member);
      else if (now > state.deadline) await this.#expire(keys, blob, step, state);
      else await this.enqueue(blob.run, incarnation, step);
    }
    this.#log.trace({ run: encoded }, "walked");
  }

  /** The whole index first: taking steps off while paging would skip others. */
  async #openSteps(keys: RunKeys): Promise<string[]> {
    const members: string[] = [];
    for (let from = 0; ; from += PAGE) {
      const page = await this.#redis.zrange(keys.steps, String(from), String(from + PAGE - 1));
      members.push(...page);
      if (page.length < PAGE) return members;
    }
  }

  /** A run without a mount has no steps to look after. It may be mounted in this very moment, hence the second look. */
  async #forgetRun(runBase: string, runs: string, encoded: string, now: number): Promise<void> {
    await this.#redis.zrem(runs, encoded);
    this.#unserved.forget(encoded);
    if (await readHandle(this.#redis, { mount: `${runBase}:mount` })) await this.#redis.zadd(runs, now, encoded);
  }

  /** Settles what was begun and not finished in time; a stage that nothing was put at yet is still to come. */
  async #expire(keys: RunKeys, handle: Handle, step: string, state: StepState): Promise<void> {
    const ref = { run: handle.run, incarnation: handle.incarnation, step };
    for (const p of handle.pipelines.filter((p) => state.rows.has(p.stage) && !state.settled.has(p.name))) {
      await settleFailure(
        this.#redis,
        ref,
        {
          pipeline: p.name,
          stage: p.stage,
          attempt: state.attempt,
          code: "EXPIRED",
          message: `step ${step} passed its deadline before pipeline "${p.name}" was settled`,
          details: { step, deadline: state.deadline },
          producer: this.#producer,
        },
        handle.limits,
      );
    }
    const member = `${handle.incarnation}:${step}`;
    await this.#redis.zrem(keys.steps, member);
    // A put that came meanwhile has moved the deadline: the step is open again.
    const deadline = await this.#redis.hget(keys.step(handle.incarnation, step).status, "deadline");
    if (Number(deadline) <= state.deadline) return;
    await this.#redis.multi().zadd(keys.steps, Number(deadline), member).pexpire(keys.steps, MOUNT_TTL_MS).exec();
  }

  async #state(
    keys: RunKeys,
    incarnation: number,
    step: string,
    pipelines: readonly PipelineSpec[],
  ): Promise<StepState | undefined> {
    const fields = stateFields(pipelines);
    return parseState(fields, await this.#redis.hmgetBuffer(keys.step(incarnation, step).status, ...fields));
  }
}

function job(
  run: string,
  incarnation: number,
  step: string,
  p: PipelineSpec,
  state: StepState,
  added: number,
): JobData {
  return {
    run,
    incarnation,
    step,
    stage: p.stage,
    pipeline: p.name,
    attempt: state.attempt,
    shard: [0, 1],
    deadline: state.deadline,
    added,
  };
}

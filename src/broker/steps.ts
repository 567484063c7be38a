import type { Redis } from "ioredis";
import { faultPoint } from "../fault-points.js";
import type { Logger } from "../log.js";
import type { Handle, JobData } from "../protocol/messages.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import { redisNow } from "../redis/connect.js";
import { MOUNT_TTL_MS, parseStepMember, type RunKeys, runKeys, stepMember } from "../redis/keys.js";
import { listRuns } from "../redis/list-runs.js";
import { Handles, readHandle } from "../redis/mounts.js";
import type { Queues } from "../redis/queue/queues.js";
import { settleFailure } from "../redis/scripts/settle.js";
import { parseState, pending, type StepState, stateFields } from "../redis/step-state.js";
import { Unserved } from "./unserved.js";

/** Open steps read from the index at a time. */
const PAGE = 256;

/** Turns complete steps into jobs, by their state alone. */
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

  /** Adds the jobs that one step needs now; `stage` limits it to the pipelines of an announcement. */
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
   * settles as EXPIRED what is past its deadline, so that no trainer waits for it for ever.
   */
  async walk(): Promise<void> {
    const now = await redisNow(this.#redis);
    const served = await this.#unserved.served();
    for (const keys of await listRuns(this.#redis))
      await this.#alone({ run: keys.encoded }, () => this.#walkRun(keys, now, served));
  }

  /** An error for one run, or one of its steps, is logged and retried on the next walk; the others are not held up. */
  async #alone(what: { run: string; step?: string }, look: () => Promise<unknown>): Promise<void> {
    try {
      await look();
    } catch (error) {
      this.#log.warn({ ...what, err: String(error) }, "skipped on this walk over the open steps");
    }
  }

  async #walkRun(keys: RunKeys, now: number, served: ReadonlySet<string>): Promise<void> {
    const handle = await readHandle(this.#redis, keys);
    if (!handle) return this.#forgetRun(keys, now);
    this.#handles.set(handle);
    await this.#unserved.look(keys, handle, served);
    for (const member of await this.#openSteps(keys)) {
      const { step } = parseStepMember(member);
      await this.#alone({ run: handle.run, step }, () => this.#walkStep(keys, handle, member, now));
    }
    this.#log.trace({ run: handle.run }, "walked");
  }

  /** Whether a job would find nothing to do: its step is gone, settled, or holds other puts by now. */
  async isMoot(job: JobData): Promise<boolean> {
    const { run, incarnation, step, pipeline: name } = job;
    const state = await this.#state(runKeys(run), incarnation, step, [{ name }]);
    return (
      !state || state.settled.has(name) || state.attempt !== job.attempt || state.contents.get(name) !== job.content
    );
  }

  async #walkStep(keys: RunKeys, handle: Handle, member: string, now: number): Promise<void> {
    const { incarnation, step } = parseStepMember(member);
    const own = incarnation === handle.incarnation;
    const state = own ? await this.#state(keys, incarnation, step, handle.pipelines) : undefined;
    if (!state) await this.#redis.zrem(keys.steps, member);
    else if (now > state.deadline) await this.#expire(keys, handle, step, state);
    else await this.enqueue(handle.run, incarnation, step);
  }

  /** Reads the whole index first: removing steps while paging would skip others. */
  async #openSteps(keys: RunKeys): Promise<string[]> {
    const members: string[] = [];
    for (let from = 0; ; from += PAGE) {
      const page = await this.#redis.zrange(keys.steps, String(from), String(from + PAGE - 1));
      members.push(...page);
      if (page.length < PAGE) return members;
    }
  }

  /** A run without a mount has no steps to take care of. It may just be being mounted, hence the second look. */
  async #forgetRun(keys: RunKeys, now: number): Promise<void> {
    await this.#redis.zrem(keys.runs, keys.encoded);
    this.#unserved.forget(keys);
    if (await readHandle(this.#redis, keys)) await this.#redis.zadd(keys.runs, now, keys.encoded);
  }

  /** Settles what was begun but not finished in time; a stage at which nothing was put yet is still to come. */
  async #expire(keys: RunKeys, handle: Handle, step: string, state: StepState): Promise<void> {
    const ref = { run: handle.run, incarnation: handle.incarnation, step };
    for (const p of handle.pipelines.filter((p) => state.stages.has(p.stage) && !state.settled.has(p.name))) {
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
    const member = stepMember(ref);
    await this.#redis.zrem(keys.steps, member);
    // A put that arrived meanwhile has moved the deadline: the step is open again.
    const deadline = await this.#redis.hget(keys.step(handle.incarnation, step).status, "deadline");
    if (Number(deadline) <= state.deadline) return;
    await this.#redis.multi().zadd(keys.steps, Number(deadline), member).pexpire(keys.steps, MOUNT_TTL_MS).exec();
  }

  async #state(
    keys: RunKeys,
    incarnation: number,
    step: string,
    pipelines: readonly Pick<PipelineSpec, "name">[],
  ): Promise<StepState | undefined> {
    const fields = stateFields(pipelines);
    return parseState(fields, await this.#redis.hmget(keys.step(incarnation, step).status, ...fields));
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
    content: state.contents.get(p.name)!,
    shard: [0, 1],
    deadline: state.deadline,
    added,
  };
}

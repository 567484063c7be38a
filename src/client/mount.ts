import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { defined } from "../defined.js";
import { DataflexError } from "../errors.js";
import { sleep } from "../lifecycle.js";
import { checkHandle, checkMountReply } from "../protocol/check-messages.js";
import { pack, unpack } from "../protocol/codec.js";
import { MAX_REQUEST_BYTES } from "../protocol/message-limits.js";
import { type Handle, PROTOCOL_VERSIONS } from "../protocol/messages.js";
import type { MountRequest, TrainerSettings } from "../protocol/mount-messages.js";
import { redactUrl } from "../redact.js";
import { redisNow } from "../redis/connect.js";
import { CLAIM_TTL_MS, runKeys, sharedKeys } from "../redis/keys.js";
import { readHandle } from "../redis/mounts.js";
import { brokerPresence, workerPresence } from "../redis/presence.js";
import { errorOf } from "../sentences.js";
import { answeredWithin } from "./deadline.js";
import { checkNames, checkText, checkTimeout } from "./guard.js";

export interface MountOptions {
  /** Names the run; while its trainer lives, a second one of that name is refused. */
  readonly run_id: string;
  /** The run's `dataflex:` block. */
  readonly dataflex: unknown;
  /** verl's name of the advantage estimator; needed when a scorer needs groups. */
  readonly adv_estimator?: string;
  /** Fields this trainer can send; unset: any. */
  readonly provides?: readonly string[];
  /** Responses per prompt (`rollout.n`); needed to find incomplete groups. */
  readonly group_size?: number;
  /** Settings of the trainer that decide whether the weights can take effect; each is optional. */
  readonly trainer?: TrainerSettings;
  /** Takes the run over from a trainer that still lives: that one is fenced. */
  readonly takeover?: boolean;
  /** How long to wait for a broker and a worker. Default 30 s. */
  readonly timeoutMs?: number;
  /** The same id gets the same answer. Default: a new one. */
  readonly mount_id?: string;
}

/** The request is repeated at this interval, with its id: a flushed server has forgotten it, and writing it twice does no harm. */
const ASK_AGAIN_MS = 5_000;

/** Beyond the deadline: to find out what was missing. */
const DIAGNOSIS_MS = 2_000;

/**
 * Asks for the run and waits for the answer. Errors: INVALID_INPUT for invalid options, LIMIT; CONFIG, RUN_BUSY, PROTOCOL_VERSION as answered;
 * NO_BROKER, NO_WORKER, REDIS_UNREACHABLE, REDIS_REFUSED, REDIS_DENIED, REDIS_FULL at the deadline.
 */
export async function requestMount(redis: Redis, options: MountOptions): Promise<Handle> {
  const { run_id: run, timeoutMs = 30_000 } = options ?? {};
  checkText(run, "run_id");
  checkTimeout(timeoutMs, 1);
  if (options.mount_id !== undefined) checkText(options.mount_id, "mount_id");
  if (options.adv_estimator !== undefined) checkText(options.adv_estimator, "adv_estimator");
  if (options.provides !== undefined) checkNames(options.provides, "provides");
  if (![undefined, true, false].includes(options.takeover))
    throw new DataflexError("INVALID_INPUT", "takeover must be true or false", { option: "takeover" });
  const mountId = options.mount_id ?? randomUUID();
  const end = performance.now() + timeoutMs;
  const asking = () => ask(redis, options, mountId, end, timeoutMs);
  return answeredWithin(timeoutMs + DIAGNOSIS_MS, `mount "${run}"`, asking);
}

async function ask(
  redis: Redis,
  options: MountOptions,
  mountId: string,
  end: number,
  timeoutMs: number,
): Promise<Handle> {
  const { adv_estimator, provides, group_size, trainer } = options;
  const request: MountRequest = {
    v: PROTOCOL_VERSIONS,
    kind: "mount",
    mount_id: mountId,
    run: options.run_id,
    dataflex: withoutPassword(options.dataflex),
    takeover: options.takeover ?? false,
    deadline: Math.ceil((await redisNow(redis)) + Math.max(0, end - performance.now())),
    ...defined({ adv_estimator, provides, group_size, trainer }),
  };
  const body = Buffer.from(pack(request));
  if (body.length > MAX_REQUEST_BYTES) {
    throw new DataflexError(
      "LIMIT",
      `the mount request of "${options.run_id}" has ${body.length} bytes, at most ${MAX_REQUEST_BYTES} are read; a dataflex block has a few thousand: is there data in it?`,
      { bytes: body.length, limit: MAX_REQUEST_BYTES },
    );
  }
  await forgetRefusal(redis, mountId);
  let askAt = 0;
  let waitingFor: string | undefined;
  for (let pause = 2; performance.now() < end; pause = Math.min(pause * 1.5, 50)) {
    if (performance.now() >= askAt) {
      await redis.set(runKeys(options.run_id).claim(mountId), "1", "PX", CLAIM_TTL_MS);
      await redis.xadd(sharedKeys.control, "*", "request", body);
      askAt = performance.now() + ASK_AGAIN_MS;
    }
    const raw = await redis.getBuffer(sharedKeys.reply(mountId));
    if (raw) {
      const reply = checkMountReply(unpack(raw));
      if (reply.state === "answered") {
        const { answer } = reply;
        if (answer.ok) return checkHandle(answer.handle);
        const { code, message, problems } = answer;
        throw DataflexError.fromFailure({ code, message, details: { problems } });
      }
      waitingFor = reply.for;
    }
    await sleep(Math.min(pause, Math.max(end - performance.now(), 0)));
  }
  return noAnswer(redis, timeoutMs, waitingFor);
}

/** The address in a block is only for this client: its password must not get into Redis, dead letters or messages. */
function withoutPassword(dataflex: unknown): unknown {
  const { redis_url: url } = (dataflex ?? {}) as { redis_url?: unknown };
  return typeof url === "string" ? { ...(dataflex as object), redis_url: redactUrl(url) } : dataflex;
}

/** The same id always gets the same handle, but a refusal is forgotten, so that the mount is decided anew. */
async function forgetRefusal(redis: Redis, mountId: string): Promise<void> {
  const raw = await redis.getBuffer(sharedKeys.reply(mountId));
  const reply = raw && checkMountReply(unpack(raw));
  if (reply && !(reply.state === "answered" && reply.answer.ok)) await redis.del(sharedKeys.reply(mountId));
}

async function noAnswer(redis: Redis, timeoutMs: number, waitingFor: string | undefined): Promise<never> {
  const time = `${timeoutMs} ms`;
  const brokers = await brokerPresence.alive(redis);
  if (brokers.length === 0) {
    throw errorOf("NO_BROKER.none", { time });
  }
  const workers = await workerPresence.alive(redis);
  if (waitingFor === "worker" || workers.length === 0) {
    throw errorOf("NO_WORKER", { time });
  }
  throw errorOf("NO_BROKER.silent", { brokers: brokers.length, time });
}

/** The handle of a run that another producer mounted. Errors: NOT_MOUNTED. */
export async function readMounted(redis: Redis, run: string): Promise<Handle> {
  const handle = await readHandle(redis, runKeys(run));
  if (!handle) throw errorOf("NOT_MOUNTED", { run });
  return handle;
}

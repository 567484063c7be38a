import type { Redis } from "ioredis";
import type { Handle } from "../protocol/messages.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import { queueName, runKeys } from "../redis/keys.js";
import { brokerPresence, workerPresence } from "../redis/presence.js";
import { parseState, stateFields } from "../redis/step-state.js";

/** Why a wait failed, in sentences: which rows of which field are missing, or which service. */
export async function diagnose(
  redis: Redis,
  handle: Handle,
  step: string,
  waiting: readonly PipelineSpec[],
): Promise<string[]> {
  const keys = runKeys(handle.run);
  const fields = stateFields(waiting);
  const { status } = keys.step(handle.incarnation, step);
  const state = parseState(fields, await redis.hmget(status, ...fields));
  if (!state) {
    const read = Object.entries(handle.stages).map(
      ([stage, fields]) => `${fields.map((field) => field.name).join(", ")} at ${stage}`,
    );
    return [
      `Redis knows nothing of step ${step}: nothing that this run reads was put (${read.join("; ")}), or it was released or has expired`,
    ];
  }
  const found: string[] = [];
  const incomplete = waiting.filter((p) => !state.contents.has(p.name));
  for (const p of incomplete) found.push(...(await missingFields(redis, status, p)));
  if (found.length > 0) return [...new Set(found)];
  if ((await brokerPresence.alive(redis)).length === 0)
    return ["every field is there, but no broker is alive. Start one: dataflex-mq broker"];
  const workers = await workerPresence.alive(redis);
  for (const p of waiting) {
    const queue = queueName(p.stage, p.fingerprint);
    const serving = workers.filter((w) => w.queues.includes(queue));
    if (serving.length === 0)
      found.push(`no live worker serves pipeline "${p.name}" (queue ${queue}). Start one: dataflex-mq worker`);
    else if (serving.every((w) => w.unready !== undefined))
      found.push(`no worker for pipeline "${p.name}" is ready: ${serving[0]?.unready}`);
    else if (serving.every((w) => w.active >= w.slots))
      found.push(`all ${serving.length} worker(s) for pipeline "${p.name}" are busy. Start more: dataflex-mq worker`);
  }
  return found.length > 0
    ? [...new Set(found)]
    : ["every field is there and workers live; the result did not come in time"];
}

async function missingFields(redis: Redis, status: string, p: PipelineSpec): Promise<string[]> {
  const names = [`span:${p.stage}`, ...p.fields.map((f) => `made:${p.stage}:${f.name}`)];
  const [span, ...made] = await redis.hmgetBuffer(status, ...names);
  if (!span)
    return [
      `pipeline "${p.name}": nothing was put at stage ${p.stage}; it needs ${p.fields.map((f) => f.name).join(", ")}`,
    ];
  const rows = popCount(span);
  return p.fields.flatMap((f, i) => {
    const have = popCount(made[i]);
    return have === rows
      ? []
      : [`pipeline "${p.name}": field "${f.name}" at stage ${p.stage} has ${have} of ${rows} rows`];
  });
}

function popCount(bitmap: Uint8Array | null | undefined): number {
  let count = 0;
  for (let byte of bitmap ?? []) for (; byte; byte &= byte - 1) count++;
  return count;
}

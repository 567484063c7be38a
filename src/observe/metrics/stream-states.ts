import type { Redis } from "ioredis";
import { ALL_TAGS, BROKER_GROUP, sharedKeys, tagKeys } from "../../redis/keys.js";
import { type GroupState, groupState, lengthAfter } from "../../redis/streams.js";

export interface StreamState extends GroupState {
  readonly stream: "control" | "announce" | "notices";
  readonly group: "broker" | "leader";
}
export interface StreamLength {
  readonly stream: StreamState["stream"] | "dead";
  readonly entries: number;
}

const IDLE: GroupState = { lag: 0, pending: 0, oldestPendingMs: 0 };

/** What the readers of each stream have before them; streams that are spread over the key space are added up. */
export async function streamStates(redis: Redis): Promise<StreamState[]> {
  const control = await groupState(redis, sharedKeys.control, BROKER_GROUP);
  const announce = await Promise.all(ALL_TAGS.map((tag) => groupState(redis, tagKeys(tag).announce, BROKER_GROUP)));
  let unread = 0;
  for (const tag of ALL_TAGS) {
    const { notices, noticesRead } = tagKeys(tag);
    unread += await lengthAfter(redis, notices, (await redis.get(noticesRead)) ?? "0");
  }
  return [
    { stream: "control", group: "broker", ...(control ?? IDLE) },
    {
      stream: "announce",
      group: "broker",
      ...announce.reduce<GroupState>((sum, state) => add(sum, state ?? IDLE), IDLE),
    },
    { stream: "notices", group: "leader", ...IDLE, lag: unread },
  ];
}

function add(a: GroupState, b: GroupState): GroupState {
  return {
    lag: a.lag + b.lag,
    pending: a.pending + b.pending,
    oldestPendingMs: Math.max(a.oldestPendingMs, b.oldestPendingMs),
  };
}

export async function streamLengths(redis: Redis): Promise<StreamLength[]> {
  const sum = async (of: "announce" | "notices" | "dead"): Promise<number> => {
    const lengths = await Promise.all(ALL_TAGS.map((tag) => redis.xlen(tagKeys(tag)[of])));
    return lengths.reduce((n, length) => n + length, 0);
  };
  return [
    { stream: "control", entries: await redis.xlen(sharedKeys.control) },
    { stream: "announce", entries: await sum("announce") },
    { stream: "notices", entries: await sum("notices") },
    { stream: "dead", entries: await sum("dead") },
  ];
}

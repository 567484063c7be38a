import type { Redis } from "ioredis";
import { ALL_TAGS, parseStepMember, type RunKeys, runKeysOf, tagKeys } from "./keys.js";

/** Keys of the runs in Redis, the one mounted last first. A run that is gone stays listed until a broker's next walk. */
export async function listRuns(redis: Redis, most = Number.POSITIVE_INFINITY): Promise<RunKeys[]> {
  const stop = Number.isFinite(most) ? String(most - 1) : "-1";
  const lists = await Promise.all(
    ALL_TAGS.map(async (tag) => {
      const encoded = await redis.zrange(tagKeys(tag).runs, "0", stop, "REV");
      return encoded.map((name) => runKeysOf(tag, name));
    }),
  );
  return lists.flat().slice(0, most);
}

/** Open steps of an incarnation, the one with the latest deadline first. */
export async function openSteps(
  redis: Redis,
  keys: Pick<RunKeys, "steps">,
  incarnation: number,
  most = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const stop = Number.isFinite(most) ? String(most - 1) : "-1";
  const members = (await redis.zrange(keys.steps, "0", stop, "REV")).map(parseStepMember);
  return members.filter((member) => member.incarnation === incarnation).map(({ step }) => step);
}

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Notice, parseNotice } from "../../src/broker/notice.js";
import { historySink } from "../../src/observe/history/history-sink.js";
import { runKeys } from "../../src/redis/keys.js";
import { parseEntries } from "../../src/redis/streams.js";
import { resultHeader, specOf } from "../helpers/page-runs.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";
import { FakeRun } from "../helpers/watched-broker.js";

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis?.stop());

/** What a run with one good step and one failed one has reported. */
async function noticesOf(name: string): Promise<Notice[]> {
  const run = await FakeRun.mount(redis, name, [specOf("main")]);
  await run.settle("1.0", resultHeader("main", 1));
  await run.fail("2.0", "NON_FINITE");
  const entries = parseEntries(await redis.raw.xrangeBuffer(runKeys(name).notices, "-", "+"));
  return entries.map(parseNotice).filter((notice): notice is Notice => notice?.run === name);
}
const lengths = (name: string): Promise<number[]> => {
  const { history, errors } = runKeys(name);
  return Promise.all([redis.raw.xlen(history), redis.raw.xlen(errors)]);
};

test("a notice is one record, however often it is read, and an earlier leader's is none", async () => {
  const notices = await noticesOf("reported");
  expect(notices.map((n) => n.kind)).toEqual(["mounted", "settled", "settled"]);
  const sink = historySink(redis.raw);
  await sink.take(notices, false);
  expect(await lengths("reported")).toEqual([0, 0]);
  for (const batch of [notices.slice(0, 2), notices, notices]) await sink.take(batch, true);
  expect(await lengths("reported")).toEqual([3, 1]);
  expect(await redis.raw.pttl(runKeys("reported").history)).toBeGreaterThan(0);
});

test("a run that was removed before its notices were read gets no history back", async () => {
  const notices = await noticesOf("removed");
  const before = await lengths("removed");
  const taken = historySink(redis.raw).take(notices.slice(0, 1), true);
  await redis.raw.unlink(runKeys("removed").mount, runKeys("removed").history);
  await taken;
  await historySink(redis.raw).take(notices, true);
  expect(await redis.raw.exists(runKeys("removed").history, runKeys("removed").historyRows)).toBe(0);
  expect(await lengths("removed")).toEqual([0, before[1]!]);
});

test("a record that Redis has no room for is an error: its batch is read again", async () => {
  const notices = await noticesOf("full");
  await redis.raw.config("SET", "maxmemory", "1");
  try {
    await expect(historySink(redis.raw).take(notices, true)).rejects.toThrow(/OOM/);
  } finally {
    await redis.raw.config("SET", "maxmemory", "0");
  }
  await historySink(redis.raw).take(notices, true);
  expect((await lengths("full"))[0]).toBe(3);
});

import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { groupLoop } from "../../src/broker/announcements.js";
import { silentLogger } from "../../src/log.js";
import { readChunks, writeChunks } from "../../src/redis/chunk-stream.js";
import { connect, redisOptions } from "../../src/redis/connect.js";
import {
  claimStale,
  done,
  type Entry,
  ensureGroup,
  leaveGroup,
  readNew,
  readPending,
  removeIdleConsumers,
} from "../../src/redis/streams.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";

let redis: TestRedis;
let streams = 0;
const fresh = (consumer = "me") => ({ stream: `s-${streams++}`, group: "g", consumer });
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());
const ids = (entries: readonly Entry[]): string[] => entries.map((e) => e.id);

test.each([2, 3] as const)("replies are read alike under protocol %d", async (protocol) => {
  const wire = new Redis({
    ...redisOptions(redis.url, "blocking"),
    protocol,
    lazyConnect: true,
    enableOfflineQueue: true,
  });
  await wire.connect();
  const r = fresh();
  await ensureGroup(wire, r.stream, r.group);
  await ensureGroup(wire, r.stream, r.group);
  await wire.xadd(r.stream, "1-1", "a", Buffer.from([0, 255]), "b", "");
  await wire.xadd(r.stream, "1-2", "__proto__", "x");
  const entries = await readNew(wire, r, 10, 50);
  expect(entries.map((e) => [e.id, Object.entries(e.fields).map(([k, v]) => [k, [...v]])])).toEqual([
    [
      "1-1",
      [
        ["a", [0, 255]],
        ["b", []],
      ],
    ],
    ["1-2", [["__proto__", [120]]]],
  ]);
  expect(await readNew(wire, r, 10, 50)).toEqual([]);
  expect(ids(await readPending(wire, r, 10))).toEqual(["1-1", "1-2"]);
  expect(ids(await claimStale(wire, { ...r, consumer: "other" }, 0, 10))).toEqual(["1-1", "1-2"]);
  await removeIdleConsumers(wire, { ...r, consumer: "other" }, -1);
  expect((await wire.xinfo("CONSUMERS", r.stream, r.group)) as unknown[]).toHaveLength(1);
  await done(wire, r.stream, r.group, ["1-1", "1-2"]);
  expect(await wire.xlen(r.stream)).toBe(0);
  wire.disconnect();
});

test("a consumer with pending entries is kept by both ways of removing it, until they are claimed", async () => {
  const r = fresh("dead");
  await ensureGroup(redis.raw, r.stream, r.group);
  await redis.raw.xadd(r.stream, "*", "a", "1");
  await redis.raw.xreadgroup("GROUP", r.group, r.consumer, "STREAMS", r.stream, ">");
  await leaveGroup(redis.raw, r);
  await removeIdleConsumers(redis.raw, { ...r, consumer: "me" }, -1);
  expect(await claimStale(redis.raw, { ...r, consumer: "me" }, 0, 10)).toHaveLength(1);
  await removeIdleConsumers(redis.raw, { ...r, consumer: "me" }, -1);
  expect((await redis.raw.xinfo("CONSUMERS", r.stream, r.group)) as unknown[]).toHaveLength(1);
});

test("a loop reads its own pending entries before new ones, keeps what is unfinished, and starts anew in a flushed server", async () => {
  const r = fresh();
  await ensureGroup(redis.raw, r.stream, r.group);
  const first = await redis.raw.xadd(r.stream, "*", "n", "1");
  // Delivered, and the answer lost.
  await redis.raw.xreadgroup("GROUP", r.group, r.consumer, "STREAMS", r.stream, ">");
  const second = await redis.raw.xadd(r.stream, "*", "n", "2");
  const seen: string[] = [];
  const abort = new AbortController();
  const blocking = await connect(redis.url, "blocking");
  const handle = async (entries: Entry[]): Promise<string[]> => {
    seen.push(...ids(entries));
    return ids(entries).filter((id) => id !== second);
  };
  const loop = groupLoop({ ...r, redis: redis.raw, blocking, log: silentLogger, handle }, abort.signal);
  await eventually(() => seen.length === 2);
  expect(seen).toEqual([first, second]);
  expect(ids(await readPending(redis.raw, r, 10))).toEqual([second]);
  await redis.raw.del(r.stream);
  await eventually(async () => redis.raw.xinfo("GROUPS", r.stream), { what: "the group made again" });
  const third = await redis.raw.xadd(r.stream, "*", "n", "3");
  await eventually(() => seen.includes(third!));
  abort.abort(new Error("enough"));
  await loop;
  blocking.disconnect();
});

test("chunks written twice are stored once, with an end; missing ones are named", async () => {
  const chunks = [Uint8Array.of(1, 2), Uint8Array.of(3), new Uint8Array(0)];
  await writeChunks(redis.raw, "chunks", chunks, 60_000);
  await writeChunks(redis.raw, "chunks", chunks, 60_000);
  expect(await redis.raw.xlen("chunks")).toBe(3);
  expect(await redis.raw.pttl("chunks")).toBeGreaterThan(0);
  expect((await readChunks(redis.raw, "chunks", 0, 1)).map((b) => [...b])).toEqual([[1, 2], [3]]);
  expect(await rejection(readChunks(redis.raw, "chunks", 1, 3))).toMatchObject({ code: "CHUNKS_MISSING" });
});

import { describe, expect, test } from "vitest";
import { pack, unpack } from "../../src/protocol/codec.js";
import { PROTOCOL_VERSIONS } from "../../src/protocol/messages.js";
import { redisNow } from "../../src/redis/connect.js";
import { CLAIM_TTL_MS, REPLY_TTL_MS, runKeys, sharedKeys } from "../../src/redis/keys.js";
import { REWEIGHT, SELECT } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem();
const MIB = 1 << 20;
const DAY_MS = 86_400_000;

/** Blocks that would cost much: to read, to judge, or to complain about. */
const keys = (n: number, length = 0) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}${"x".repeat(length)}`, i]));
const PIPELINES = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { mechanism: i }]));

async function post(id: string, dataflex: unknown, more: object = {}): Promise<void> {
  const { raw } = system.redis;
  const deadline = (await redisNow(raw)) + 60_000;
  const request = {
    v: PROTOCOL_VERSIONS,
    kind: "mount",
    mount_id: id,
    run: id,
    dataflex,
    takeover: false,
    deadline,
    ...more,
  };
  await raw.set(runKeys(id).claim(id), "1", "PX", CLAIM_TTL_MS);
  await raw.xadd(sharedKeys.control, "*", "request", Buffer.from(pack(request)));
}

describe("a mount request above 1 MiB", () => {
  test.each([
    ["one string", { ...REWEIGHT, redis_url: "x".repeat(900_000), run_id: "y".repeat(900_000) }],
    ["4 MiB of keys", keys(100_000, 40)],
    ["lists in lists", { clip: Array.from({ length: 400_000 }, (_, i) => [i]) }],
  ])("is not read but laid aside, its head alone, and others are served: %s", async (_, dataflex) => {
    const { dead } = runKeys("x");
    const before = await system.redis.raw.xlen(dead);
    await post(`large-${before}`, dataflex);
    await eventually(async () => (await system.redis.raw.xlen(dead)) === before + 1, { timeoutMs: 5_000 });
    expect(await system.redis.raw.strlen(sharedKeys.reply(`large-${before}`))).toBe(0);
    const [entry] = await system.redis.raw.xrevrangeBuffer(dead, "+", "-", "COUNT", 1);
    expect((entry as unknown as [Buffer, Buffer[]])[1].reduce((n, b) => n + b.length, 0)).toBeLessThan(4_096);
    await system.mount();
  });

  test("a client refuses to send it", async () => {
    expect((await rejection(system.mount(keys(100_000)))).code).toBe("LIMIT");
  });
});

test.each([
  ["100,000 unknown keys", keys(80_000)],
  ["unknown keys in parameters", { ...SELECT, actuator: { name: "threshold_band", params: keys(80_000) } }],
  ["a long name", { ...REWEIGHT, ["n".repeat(MIB - 1_000)]: 1 }],
  ["long names in parameters", { ...REWEIGHT, actuator: { name: "softmax", params: keys(16, 60_000) } }],
  ["too many pipelines", { pipelines: PIPELINES }],
  ["a component with a long name", { ...REWEIGHT, scorer: { name: "s".repeat(MIB - 1_000) } }],
])("the refusal of 1 MiB is short and soon there: %s", async (_, dataflex) => {
  const begun = performance.now();
  const error = await rejection(system.mount(dataflex));
  expect(error.code).toBe("CONFIG");
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(error.message.length).toBeLessThan(500_000);
  const { problems } = error.details as { problems: unknown[] };
  expect(problems.length).toBeLessThanOrEqual(101);
  expect(JSON.stringify(problems).length).toBeLessThan(500_000);
});

test.each([[9e15], [Number.MAX_SAFE_INTEGER]])(
  "an answer lives no longer than a client may wait, whatever deadline was asked for: %d",
  async (deadline) => {
    const id = `late-${deadline}`;
    await post(id, REWEIGHT, { deadline });
    const reply = await eventually(() => system.redis.raw.getBuffer(sharedKeys.reply(id)));
    expect(unpack(reply)).toMatchObject({ state: "answered", answer: { ok: true } });
    const ttl = await system.redis.raw.pttl(sharedKeys.reply(id));
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(DAY_MS + REPLY_TTL_MS);
  },
);

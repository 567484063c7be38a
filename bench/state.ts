/**
 * How long Redis is kept from others by the state of a policy of 4096 prompts and 1000 steps: put back from a checkpoint, read, rewound by a
 * trainer that starts again from step 10, by the longest single command of each.
 * Run: npm run build && npx tsx bench/state.ts
 */
import { DEFAULT_LIMITS } from "../src/columns/limits.js";
import type { OutcomeHeader } from "../src/protocol/messages.js";
import { packEntry } from "../src/protocol/saved-state.js";
import { connect } from "../src/redis/connect.js";
import { runKeys } from "../src/redis/keys.js";
import { startPrivateRedis } from "../src/redis/private-server.js";
import { readState } from "../src/redis/read-state.js";
import { restoreState } from "../src/redis/scripts/restore-state.js";
import { settle } from "../src/redis/scripts/settle.js";

const PROMPTS = 4_096;
const STEPS = 1_000;
const server = await startPrivateRedis();
const redis = await connect(server.url, "command");
await redis.config("SET", "slowlog-log-slower-than", "0");
await redis.config("SET", "slowlog-max-len", "100000");

const run = "bench";
const keys = runKeys(run);
const entry = (inc: number) =>
  packEntry({ inc, by: "greso", values: Array.from({ length: PROMPTS }, (_, i) => [`prompt-${i}`, i % 9, 8]) });
const mount = (inc: number) => redis.hset(keys.mount, { inc, pipelines: "mix", "need:mix": "post_reward|uid" });

async function longest(what: string, work: () => Promise<unknown>): Promise<void> {
  await redis.slowlog("RESET");
  const started = performance.now();
  await work();
  const took = performance.now() - started;
  const entries = (await redis.slowlog("GET", 100_000)) as unknown as [number, number, number, string[]][];
  const most = Math.max(...entries.map(([, , micros]) => micros)) / 1000;
  console.log(`${what}: ${took.toFixed(0)} ms, longest command ${most.toFixed(1)} ms`);
}

await mount(1);
const steps = Array.from({ length: STEPS }, (_, n) => [`${n}.0`, entry(1)] as const);
await longest(`restore ${STEPS} × ${PROMPTS}`, () => restoreState(redis, { run, incarnation: 1 }, "mix", steps));
await longest("read all of it", () => readState(redis, run, "mix"));
const known = await readState(redis, run, "mix");
await longest("read what was added", () => readState(redis, run, "mix", known));
await mount(2);
const { status } = keys.step(2, "10.0");
await redis.hset(status, { attempt: 1, created: 1, inc: 2 });
const header = { v: 2, kind: "result", pipeline: "mix", stage: "post_reward", attempt: 1 } as unknown as OutcomeHeader;
const remember = { entry: entry(2), keep: STEPS };
const ref = { run, incarnation: 2, step: "10.0" };
await longest("settle step 10 of a trainer that starts again", () =>
  settle(redis, ref, header, [], DEFAULT_LIMITS, { remember }),
);
redis.disconnect();
await server.stop();

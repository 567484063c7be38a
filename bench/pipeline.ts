/**
 * From put to received weights, client, broker and worker in three processes, beside the bare chain of the same hops: XADD → group reader → BullMQ
 * job → worker → XADD → blocked reader, with an empty payload.
 * Run: npm run build && npx tsx bench/pipeline.ts [steps]
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Client } from "dataflex-mq";
import { startPrivateRedis, startServices } from "dataflex-mq/server";
import { Redis } from "ioredis";
import { interleave, report } from "./measure.js";

const steps = Number(process.argv[2] ?? 300);
const [rows, width] = [1024, 4096];
const lengths = Int32Array.from({ length: rows }, (_, i) => 1024 + ((i * 997) % 3072));
const total = lengths.reduce((a, b) => a + b, 0);
const values = new Float32Array(total);
for (let i = 0, at = 0; i < rows; at += lengths[i++]!) values.fill(((i % 8) - 3.5) / 4, at, at + lengths[i]!);
const advantages = { values, lengths, width };
const response_mask = { values: new Uint8Array(total).fill(1), lengths, width, dtype: "bool" as const };

const server = await startPrivateRedis();
const services = await startServices({ redisUrl: server.url });
const client = await Client.connect({ redisUrl: server.url });
const run = await client.mount({
  run_id: "bench",
  adv_estimator: "grpo",
  dataflex: { mechanism: "reweight", scorer: { name: "advantage_magnitude" }, actuator: { name: "softmax" } },
});

const chain = fork(fileURLToPath(new URL("./bare-chain.mjs", import.meta.url)), [server.url], { stdio: "inherit" });
const broker = fork(fileURLToPath(new URL("./bare-chain.mjs", import.meta.url)), [server.url, "broker"], {
  stdio: "inherit",
});
await Promise.all([chain, broker].map((c) => new Promise((resolve) => c.once("message", resolve))));
const path = server.url.replace("unix://", "");
const [out, wait] = [new Redis({ path }), new Redis({ path })];

let step = 0;
let ping = 0;
const times = await interleave(steps, {
  "bare chain": async () => {
    const key = `bench:out:${++ping}`;
    await out.xadd("bench:in", "*", "key", key);
    await wait.xread("BLOCK", 5000, "STREAMS", key, "0");
    await out.unlink(key);
  },
  "GRPO step, put to weights": async () => {
    await run.put(++step, "post_advantage", { advantages, response_mask });
    await run.weights(step, { timeoutMs: 10_000 });
    await run.release(step);
  },
});
report(`${rows} × ${width}, ${steps} steps each, alternating`, times, "bare chain");
for (const c of [chain, broker]) c.kill();
out.disconnect();
wait.disconnect();
await client.close();
await services.stop();
await server.stop();

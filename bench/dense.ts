/**
 * A dense step: 64 MiB of log-probs from put to token weights back, beside the same bytes through Redis in chunks, both ways, and a
 * hand-written loop over them.
 * Run: npm run build && npx tsx bench/dense.ts [steps]
 */
import { readChunks, writeChunks } from "../src/redis/chunk-stream.js";
import { connect } from "../src/redis/connect.js";
import { interleave, report } from "./measure.js";
import { startBench } from "./service.js";

const steps = Number(process.argv[2] ?? 15);
const MIB = 1 << 20;
const [rows, width] = [4096, 4096];
const values = Float32Array.from({ length: rows * width }, (_, i) => -((i * 0.618) % 1) - 1e-3);
const old_log_probs = { data: values, shape: [rows, width] };
const response_mask = { data: new Uint8Array(rows * width).fill(1), shape: [rows, width], dtype: "bool" as const };

const bench = await startBench({
  mechanism: "reweight",
  scorer: { name: "token_prob" },
  actuator: { name: "advantage_reweight", params: { alpha: 0.5 } },
  normalize: "none",
});
const redis = await connect(bench.url, "command");

async function through(key: string, bytes: Uint8Array): Promise<Float32Array> {
  const chunks = Array.from({ length: 64 }, (_, i) => bytes.subarray(i * MIB, (i + 1) * MIB));
  await writeChunks(redis, key, chunks, 60_000);
  const back = new Uint8Array(bytes.byteLength);
  for (const [i, chunk] of (await readChunks(redis, key, 0, 63)).entries()) back.set(chunk, i * MIB);
  await redis.unlink(key);
  return new Float32Array(back.buffer);
}
let step = 0;
const times = await interleave(steps, {
  "bytes and a bare loop": async () => {
    const there = await through("bench:there", new Uint8Array(values.buffer));
    const weights = new Float32Array(there.length);
    for (let i = 0; i < weights.length; i++) weights[i] = 0.5 * Math.exp(there[i]!) + 0.5;
    await through("bench:back", new Uint8Array(weights.buffer));
  },
  "dense step": async () => {
    await bench.run.put(++step, "post_advantage", { old_log_probs, response_mask });
    await bench.run.weights(step, { timeoutMs: 60_000 });
    await bench.run.release(step);
  },
});
report(`64 MiB of log-probs, ${steps} steps each, alternating`, times, "bytes and a bare loop");
redis.disconnect();
await bench.stop();

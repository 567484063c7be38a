/**
 * A BullMQ job that carries its tensors as base64, padded, and answers the weights likewise: what one would write first. Beside it the same
 * step through this system.
 * Run: npm run build && npx tsx bench/naive.ts [rounds]
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Queue, QueueEvents } from "bullmq";
import { interleave, report } from "./measure.js";
import { GRPO, startBench } from "./service.js";

const rounds = Number(process.argv[2] ?? 10);
const [rows, width] = [1024, 4096];
const size = rows * width;
const advantages = Float32Array.from({ length: size }, (_, i) => ((Math.floor(i / width) % 8) - 3.5) / 4);
const old_log_probs = Float32Array.from({ length: size }, (_, i) => -((i * 0.618) % 1) - 1e-3);
const mask = { data: new Uint8Array(size).fill(1), shape: [rows, width], dtype: "bool" as const };
const TOKENS = { mechanism: "reweight", scorer: { name: "token_prob" }, actuator: { name: "advantage_reweight" } };

for (const [title, dataflex, name, data] of [
  ["GRPO step", GRPO, "advantages", advantages],
  ["step of log-probs", TOKENS, "old_log_probs", old_log_probs],
] as const) {
  const bench = await startBench(dataflex);
  const connection = { path: bench.url.replace("unix://", ""), maxRetriesPerRequest: null };
  const worker = fork(fileURLToPath(new URL("./naive-worker.mjs", import.meta.url)), [bench.url], { stdio: "inherit" });
  await new Promise((resolve) => worker.once("message", resolve));
  const queue = new Queue("naive", { connection, prefix: "bench:{n}" });
  const events = new QueueEvents("naive", { connection, prefix: "bench:{n}" });
  await events.waitUntilReady();
  const base64 = (array: Float32Array): string => Buffer.from(array.buffer).toString("base64");
  let step = 0;
  const times = await interleave(rounds, {
    "naive job": async () => {
      const tensors = { values: base64(data), mask: base64(Float32Array.from(mask.data)), shape: [rows, width] };
      const job = await queue.add(name, tensors, { removeOnComplete: 1 });
      const answer = (await job.waitUntilFinished(events)) as string;
      new Float32Array(new Uint8Array(Buffer.from(answer, "base64")).buffer);
    },
    "through dataflex-mq": async () => {
      await bench.run.put(++step, "post_advantage", { [name]: { data, shape: [rows, width] }, response_mask: mask });
      const result = await bench.run.weights(step, { timeoutMs: 60_000 });
      void result.combined.weights;
      await bench.run.release(step);
    },
  });
  report(`${title}, ${rows} × ${width}`, times, "naive job");
  await events.close();
  await queue.close();
  worker.kill();
  await bench.stop();
}

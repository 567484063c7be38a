/**
 * Sixteen steps at once, whose scorer takes 50 ms each, on one worker and on eight.
 * Run: npm run build && npx tsx bench/workers.ts
 */
import { fileURLToPath } from "node:url";
import { interleave, report } from "./measure.js";
import { startBench } from "./service.js";

const STEPS = 16;
const dataflex = { mechanism: "reweight", scorer: { name: "sleeper" }, actuator: { name: "softmax" } };
const components = { plugin: [fileURLToPath(new URL("./sleeper.ts", import.meta.url))] };
const services = {
  "one worker": await startBench(dataflex, { workers: 1, slots: 1, components }),
  "eight workers": await startBench(dataflex, { workers: 8, slots: 1, components }),
};
const fields = { rm_scores: [[1], [0], [0.5]], response_mask: [[1], [1], [1]] };
let base = 0;
const candidates = Object.fromEntries(
  Object.entries(services).map(([name, { run }]) => [
    name,
    async (): Promise<void> => {
      const steps = Array.from({ length: STEPS }, (_, i) => base + i + 1);
      base += STEPS;
      await Promise.all(
        steps.map(async (step) => {
          await run.put(step, "post_reward", fields);
          await run.weights(step, { timeoutMs: 60_000 });
          await run.release(step);
        }),
      );
    },
  ]),
);
report(`${STEPS} steps of 50 ms`, await interleave(10, candidates), "one worker");
for (const bench of Object.values(services)) await bench.stop();

/**
 * From put to received weights, client, broker and worker in three processes, beside the bare chain of the same hops with an empty payload.
 * The short step has next to nothing to encode; the extra time of the long one is encoding.
 * Run: npm run build && npx tsx bench/pipeline.ts [steps]
 */
import { startBareChain } from "./bare-chain.js";
import { interleave, report } from "./measure.js";
import { GRPO, grpoStep, startBench } from "./service.js";

const steps = Number(process.argv[2] ?? 300);
const bench = await startBench(GRPO);
const chain = await startBareChain(bench.url);

let step = 0;
const candidate = (width: number) => {
  const { advantages, response_mask } = grpoStep(1024, width);
  return async (): Promise<void> => {
    await bench.run.put(++step, "post_advantage", { advantages, response_mask });
    await bench.run.weights(step, { timeoutMs: 10_000 });
    await bench.run.release(step);
  };
};
const times = await interleave(steps, {
  "bare chain": chain.once,
  "GRPO step 1024 × 4": candidate(4),
  "GRPO step 1024 × 4096": candidate(4096),
});
report(`put to weights, ${steps} steps each, alternating`, times, "bare chain");
chain.stop();
await bench.stop();

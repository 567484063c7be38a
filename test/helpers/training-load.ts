import { Client, type Run } from "dataflex-mq";
import { advantageStep, REWEIGHT, valuesOf } from "./batches.js";
import { domainStep, mixBlock } from "./domains.js";

/** Two reweighters, one of them clipped away from its extremes, and a shadow; what the demo does not have. */
const REWEIGHTERS = {
  clip: [0.5, 1.5],
  pipelines: {
    sharp: { ...REWEIGHT, actuator: { name: "softmax", params: { temperature: 0.25 } } },
    soft: { ...REWEIGHT, actuator: { name: "softmax", params: { temperature: 8 } } },
    trial: { ...REWEIGHT, shadow: true },
  },
} as const;

const MIX = mixBlock("reward_gap", {}, { floor: 0 });

/** A trainer that goes on until it is stopped: one run with two reweighters and a shadow, one with a mixer. */
export async function startTrainingLoad(redisUrl: string): Promise<{ stop(): Promise<void> }> {
  const client = await Client.connect({ redisUrl });
  const mount = (run_id: string, dataflex: unknown): Promise<Run> =>
    client.mount({ run_id, dataflex, adv_estimator: "grpo", timeoutMs: 20_000 });
  const [weighed, mixed] = await Promise.all([mount("weighed", REWEIGHTERS), mount("mixed", MIX)]);
  let stopped = false;
  const loop = async (): Promise<void> => {
    for (let step = 1; !stopped; step++) {
      const batch = advantageStep(valuesOf(step, 8));
      await weighed.put(step, "post_advantage", { ...batch });
      await mixed.put(step, "post_reward", domainStep({ math: [1, 0], code: [step % 2, 0] }));
      const [result] = await Promise.all([weighed.weights(step), mixed.weights(step)]);
      result.rolloutIsWeights(batch.response_mask);
      await Promise.all([weighed.release(step), mixed.release(step)]);
    }
  };
  const running = loop();
  return {
    async stop() {
      stopped = true;
      await running;
      await client.close();
    },
  };
}

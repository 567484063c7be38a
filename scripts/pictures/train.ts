import { setTimeout as pause } from "node:timers/promises";
import { Client } from "dataflex-mq";
import { seededRng } from "../../src/scoring/batch/rng.js";
import { GROUP, rollouts } from "./rollouts.js";
import { type Scenario, WELL_STEPS } from "./scenarios.js";

/** What a trainer does meanwhile: reference log-probs and values before it needs weights, the update after. */
const FORWARD_MS = 250;
const UPDATE_MS = 600;

export interface Training {
  /** The step at hand. */
  step(): number;
  /** Unix time in ms at which the illness began. */
  illSince(): number | undefined;
  stop(): Promise<void>;
}

/** A trainer's loop over one scenario, until it is stopped. */
export async function train(redisUrl: string, scenario: Scenario, onIll: () => Promise<unknown>): Promise<Training> {
  const client = await Client.connect({ redisUrl });
  const run = await client.mount({
    run_id: scenario.name,
    dataflex: scenario.dataflex,
    adv_estimator: "grpo",
    group_size: GROUP,
  });
  let step = 1;
  let illSince: number | undefined;
  let stopped = false;
  const loop = async (): Promise<void> => {
    for (; !stopped; step++) {
      if (step === WELL_STEPS) {
        illSince = Date.now();
        await onIll();
      }
      const fields = rollouts(seededRng(step), scenario.shape(Math.max(0, step - WELL_STEPS)));
      for (const stage of ["post_reward", "post_advantage"] as const)
        if (run.wants[stage]) await run.put(step, stage, { ...fields[stage] });
      await pause(FORWARD_MS);
      const result = await run.weights(step);
      if (!result.neutral) result.rolloutIsWeights(fields.post_advantage.response_mask);
      await pause(UPDATE_MS);
      await run.release(step);
    }
  };
  const running = loop();
  let failed: unknown;
  running.catch((error) => {
    failed = error;
  });
  return {
    step: () => step,
    illSince: () => illSince,
    async stop() {
      stopped = true;
      const waits = failed;
      await client.close();
      // A trainer that waits for weights learns that its client is closed; anything that went wrong before is a fault of the scenario.
      await running.catch(() => {});
      if (waits) throw waits;
    },
  };
}

import { createTrainer, DEFAULT_SETTINGS, type Rollout, type Trainer, type TrainerSettings } from "./trainer.js";
import { summariseWeights, type WeightSummary } from "./weighing.js";

/** The answer for one step: the weights for the loss, and whatever else the caller wants to keep. */
export interface Weighed<Extra> {
  /** `(rows × width)`, row-major: what `rollout_is_weights` is to a trainer. */
  readonly weights: Float32Array;
  readonly extra: Extra;
}

/** One finished step of the run. */
export interface StepResult<Extra> {
  readonly step: number;
  /** Mean reward of the step's rollouts, sampled before the update. */
  readonly reward: number;
  readonly loss: number;
  /** Hash of the parameters after the update. */
  readonly params_sha256: string;
  readonly weight: WeightSummary;
  readonly rollout: Rollout;
  readonly weights: Float32Array;
  readonly extra: Extra;
}

export interface LoopOptions {
  readonly steps: number;
  readonly seed: number;
  readonly settings?: TrainerSettings;
}

/**
 * Trains for `steps` steps; `weigh` returns the weights of each rollout. The consumer of this generator sets the pace
 * and may stop early. Knows nothing of Redis, so the same loop trains the run with weights and the one without.
 */
export async function* trainLoop<Extra>(
  { steps, seed, settings = DEFAULT_SETTINGS }: LoopOptions,
  weigh: (rollout: Rollout) => Promise<Weighed<Extra>>,
): AsyncGenerator<StepResult<Extra>> {
  const trainer = createTrainer(seed, settings);
  for (let step = 1; step <= steps; step++) {
    const rollout = trainer.rollout(step);
    const { weights, extra } = await weigh(rollout);
    const loss = trainer.update(rollout, weights);
    yield {
      step,
      reward: meanOf(rollout.rewards),
      loss,
      params_sha256: trainer.policy.hash(),
      weight: summariseWeights(weights, rollout),
      rollout,
      weights,
      extra,
    };
  }
}

/** One step of the same run without weights, by a trainer of its own. */
export function unweightedStep(trainer: Trainer, step: number): StepOutcome {
  const rollout = trainer.rollout(step);
  trainer.update(rollout);
  return { step, reward: meanOf(rollout.rewards), params_sha256: trainer.policy.hash() };
}

/** The part of a step that both runs have. */
export interface StepOutcome {
  readonly step: number;
  readonly reward: number;
  readonly params_sha256: string;
}

/** Arithmetic mean; 0 without elements. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, x) => sum + x, 0) / values.length;
}

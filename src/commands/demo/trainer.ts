import { seededRng } from "../../scoring/batch/rng.js";
import { groupAdvantages } from "./advantages.js";
import { MAX_RESPONSE, Policy } from "./demo-policy.js";
import { drawTasks, grade, type Task } from "./tasks.js";

export interface TrainerSettings {
  /** Prompts a step. */
  readonly prompts: number;
  /** Samples a prompt: the size of every group. */
  readonly samples: number;
  /** Step of plain gradient descent on the token-mean loss. */
  readonly learningRate: number;
}

export const DEFAULT_SETTINGS: TrainerSettings = { prompts: 16, samples: 8, learningRate: 24 };

/**
 * One step's rollouts as a trainer holds them: token matrices are row-major `(rows, width)` float32, 0 after a response's end.
 * `rm_scores` carries the 0/1 reward on the last response token.
 */
export interface Rollout {
  readonly step: number;
  readonly rows: number;
  readonly width: number;
  readonly tasks: readonly Task[];
  readonly responses: readonly (readonly number[])[];
  readonly rewards: readonly number[];
  readonly lengths: Int32Array;
  readonly uid: readonly string[];
  readonly domain: readonly string[];
  readonly rm_scores: Float32Array;
  readonly response_mask: Uint8Array;
  readonly advantages: Float32Array;
  readonly old_log_probs: Float32Array;
  readonly entropy: Float32Array;
}

export interface Trainer {
  readonly policy: Policy;
  /** Samples step `step` (1, 2, …) with the current parameters. */
  rollout(step: number): Rollout;
  /** One gradient step on the loss with per-token `weights`, `(rows × width)`; absent: all ones. Returns the loss. */
  update(rollout: Rollout, weights?: ArrayLike<number>): number;
}

const TASK_STREAM = 1;
const SAMPLE_STREAM = 2;

/**
 * A GRPO trainer, complete and deterministic: same seed and same weights, same parameters, bit for bit. One on-policy update
 * a step, so the importance ratio is 1 and the gradient of the clipped loss is that of `−Σ w·A·log π / number of tokens` (token
 * mean), computed exactly. Plain gradient descent: what a weight does to the size of a step stays visible.
 */
export function createTrainer(seed: number, settings: TrainerSettings = DEFAULT_SETTINGS): Trainer {
  const policy = new Policy();
  return {
    policy,
    rollout: (step) => rollOut(policy, seed, step, settings),
    update: (rollout, weights) => update(policy, rollout, weights, settings.learningRate),
  };
}

function rollOut(policy: Policy, seed: number, step: number, { prompts, samples }: TrainerSettings): Rollout {
  const noise = seededRng(seed, SAMPLE_STREAM, step);
  const tasks = drawTasks(seededRng(seed, TASK_STREAM, step), prompts).flatMap(
    (task) => Array(samples).fill(task) as Task[],
  );
  const responses = tasks.map((task) => policy.sample(task, noise));
  const rewards = tasks.map((task, row) => grade(task, responses[row]!));
  const uid = tasks.map((_, row) => `s${step}p${Math.floor(row / samples)}`);
  const advantages = groupAdvantages(rewards, uid);
  const evaluated = tasks.map((task, row) => policy.evaluate(task, responses[row]!));
  const width = MAX_RESPONSE;
  const matrix = (at: (row: number, t: number) => number): Float32Array => {
    const data = new Float32Array(tasks.length * width);
    responses.forEach((response, row) => {
      for (let t = 0; t < response.length; t++) data[row * width + t] = at(row, t);
    });
    return data;
  };
  return {
    step,
    rows: tasks.length,
    width,
    tasks,
    responses,
    rewards,
    lengths: Int32Array.from(responses, (response) => response.length),
    uid,
    domain: tasks.map((task) => task.kind),
    rm_scores: matrix((row, t) => (t === responses[row]!.length - 1 ? rewards[row]! : 0)),
    response_mask: Uint8Array.from(matrix(() => 1)),
    advantages: matrix((row) => advantages[row]!),
    old_log_probs: matrix((row, t) => evaluated[row]!.logProbs[t]!),
    entropy: matrix((row, t) => evaluated[row]!.entropies[t]!),
  };
}

function update(
  policy: Policy,
  rollout: Rollout,
  weights: ArrayLike<number> | undefined,
  learningRate: number,
): number {
  const gradient = new Float64Array(policy.params.length);
  const tokens = rollout.lengths.reduce((sum, length) => sum + length, 0);
  let loss = 0;
  rollout.responses.forEach((response, row) => {
    for (let t = 0; t < response.length; t++) {
      const at = row * rollout.width + t;
      const scale = (weights?.[at] ?? 1) * rollout.advantages[at]!;
      loss -= (scale * rollout.old_log_probs[at]!) / tokens;
      if (scale !== 0) policy.addLogProbGradient(gradient, rollout.tasks[row]!, response, t, scale / tokens);
    }
  });
  for (let i = 0; i < gradient.length; i++) policy.params[i]! += learningRate * gradient[i]!;
  return loss;
}

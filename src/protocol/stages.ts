/**
 * When a signal exists, in the order of a step. Whatever appears after old-log-prob or reference passes belongs to
 * `post_advantage`. (`in_loss` is refused: a weight inside the loss would need the current policy's gradients.)
 */
export const STAGES = ["pre_rollout", "post_reward", "post_advantage"] as const;
export type Stage = (typeof STAGES)[number];

/** The later of two stages. */
export function laterStage(a: Stage, b: Stage): Stage {
  return STAGES.indexOf(a) >= STAGES.indexOf(b) ? a : b;
}

/** Both later stages are about the same rows, the responses; `pre_rollout` is about prompts. */
export type RowTable = "prompts" | "responses";
export function tableOf(stage: Stage): RowTable {
  return stage === "pre_rollout" ? "prompts" : "responses";
}

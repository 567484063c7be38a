import type { Rng } from "../../src/scoring/batch/rng.js";

/** Prompts of a step, and responses to each. */
const PROMPTS = 32;
export const GROUP = 4;
const WIDTH = 24;

export interface Shape {
  /** Chance that a response solves its prompt, by domain. */
  readonly solves: Readonly<Record<string, number>>;
  /** The reward model answers the same whatever it reads. */
  readonly flat?: boolean;
  /** Factor by which advantages are too large. */
  readonly scale?: number;
  /** An advantage that one row gets instead of its own. */
  readonly outlier?: number;
}

/** What a trainer has of a step, by stage: rewards once responses are scored, advantages of each against its group after that. */
export function rollouts(random: Rng, shape: Shape) {
  const domains = Object.keys(shape.solves);
  const rows = Array.from({ length: PROMPTS * GROUP }, (_, i) => {
    const prompt = Math.floor(i / GROUP);
    const domain = domains[prompt % domains.length]!;
    const solved = random() < shape.solves[domain]!;
    // A little partial credit, so that no two responses are quite alike.
    const reward = shape.flat ? 0 : (solved ? 1 : 0) + (shape.solves[domain]! < 1 ? 0.2 * (random() - 0.5) : 0);
    return { uid: `prompt-${prompt}`, domain, reward, length: 4 + Math.floor(random() * (WIDTH - 4)) };
  });
  const advantages = rows.map(({ uid, reward }, i) => {
    if (i === 0 && shape.outlier !== undefined) return shape.outlier;
    const group = rows.filter((row) => row.uid === uid).map((row) => row.reward);
    const mean = group.reduce((a, b) => a + b) / group.length;
    const std = Math.sqrt(group.reduce((n, r) => n + (r - mean) ** 2, 0) / (group.length - 1));
    return ((shape.scale ?? 1) * (reward - mean)) / (std + 1e-4);
  });
  const over = (values: readonly number[]): number[][] =>
    rows.map(({ length }, i) => Array.from({ length: WIDTH }, (_, t) => (t < length ? values[i]! : 0)));
  const atEnd = rows.map(({ length, reward }) =>
    Array.from({ length: WIDTH }, (_, t) => (t === length - 1 ? reward : 0)),
  );
  const response_mask = over(rows.map(() => 1));
  return {
    post_reward: { rm_scores: atEnd, response_mask, uid: rows.map((r) => r.uid), domain: rows.map((r) => r.domain) },
    post_advantage: { advantages: over(advantages), response_mask },
  };
}

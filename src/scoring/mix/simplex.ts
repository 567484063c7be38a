/** Proportions over an ordered list: each ≥ 0, together 1. */
export type Proportions = readonly number[];

/** exp(x / temperature) over its sum, the maximum subtracted first: no overflow, and equal values get equal shares. */
export function softmax(values: readonly number[], temperature = 1): number[] {
  const max = Math.max(...values);
  return normalized(values.map((value) => Math.exp((value - max) / temperature)));
}

/** Divided by their sum. The sum must be above 0 and finite. */
export function normalized(values: readonly number[]): number[] {
  const sum = values.reduce((total, value) => total + value, 0);
  return values.map((value) => value / sum);
}

export function uniform(size: number): number[] {
  return Array.from({ length: size }, () => 1 / size);
}

export const FLOOR_MODES = ["mix", "clip"] as const;
export type FloorMode = (typeof FLOOR_MODES)[number];

/**
 * Keeps every share away from 0. `mix`: f + (1 − K f) p, which holds the floor exactly. `clip`: max(p, f) over its sum, which may fall
 * below it ([.9997, .0003] with .05 → .0476).
 * @param floor in [0, 1/K].
 */
export function withFloor(p: Proportions, floor: number, mode: FloorMode): number[] {
  if (mode === "clip") return normalized(p.map((share) => Math.max(share, floor)));
  const rest = Math.max(0, 1 - p.length * floor);
  return p.map((share) => floor + rest * share);
}

/** What is wrong with `p` as proportions of `size` domains, in words; `undefined` if nothing is. */
export function simplexProblem(p: ArrayLike<number>, size: number): string | undefined {
  if (p.length !== size) return `${p.length} shares for ${size} domains`;
  let sum = 0;
  for (let i = 0; i < size; i++) {
    const share: unknown = p[i];
    if (typeof share !== "number" || !Number.isFinite(share) || share < 0) return `share ${i} is ${String(share)}`;
    sum += share;
  }
  // Wide enough for float32 arithmetic in a user's own mixer; what is delivered is divided by the sum.
  return Math.abs(sum - 1) <= 1e-6 ? undefined : `the shares sum to ${sum}`;
}

import type { Rng } from "../batch/rng.js";

/** A draw from the beta distribution: of two gamma draws the first one's share. @param alpha, beta above 0 */
export function betaDraw(alpha: number, beta: number, rng: Rng): number {
  const [first, second] = [gammaDraw(alpha, rng), gammaDraw(beta, rng)];
  // Both can be 0 for parameters near 0, where the draw is 0 or 1.
  return first + second > 0 ? first / (first + second) : Number(rng() < alpha / (alpha + beta));
}

/** Marsaglia and Tsang 2000; below 1 by their boost: a draw for shape + 1 times a power of a uniform number. */
function gammaDraw(shape: number, rng: Rng): number {
  if (shape < 1) return gammaDraw(shape + 1, rng) * (1 - rng()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normalDraw(rng);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - rng()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Box and Muller 1958. */
function normalDraw(rng: Rng): number {
  return Math.sqrt(-2 * Math.log(1 - rng())) * Math.cos(2 * Math.PI * rng());
}

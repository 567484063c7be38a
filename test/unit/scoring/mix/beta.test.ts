import { expect, it } from "vitest";
import { seededRng } from "../../../../src/scoring/batch/rng.js";
import { betaDraw } from "../../../../src/scoring/mix/beta.js";

const draws = (alpha: number, beta: number, n = 20_000) => {
  const rng = seededRng("beta", alpha, beta);
  return Array.from({ length: n }, () => betaDraw(alpha, beta, rng)).sort((a, b) => a - b);
};

it.each([
  [1, 1],
  [4, 2],
  [0.5, 0.5],
  [0.2, 3],
  [200, 50],
])("has the mean and variance of Beta(%d, %d)", (alpha, beta) => {
  const values = draws(alpha, beta);
  const sum = alpha + beta;
  const [mean, variance] = [alpha / sum, (alpha * beta) / (sum ** 2 * (sum + 1))];
  const have = values.reduce((a, b) => a + b, 0) / values.length;
  // Five standard errors.
  expect(Math.abs(have - mean)).toBeLessThan(5 * Math.sqrt(variance / values.length));
  const spread = values.reduce((total, value) => total + (value - have) ** 2, 0) / values.length;
  expect(Math.abs(spread / variance - 1)).toBeLessThan(0.06);
  expect(values[0]).toBeGreaterThanOrEqual(0);
  expect(values.at(-1)).toBeLessThanOrEqual(1);
});

/** Distribution functions that are known in closed form; 1.95 / √n is passed once in a thousand samples. */
it.each([
  [1, 1, (x: number) => x],
  [1, 4, (x: number) => 1 - (1 - x) ** 4],
  [3, 1, (x: number) => x ** 3],
  [2, 2, (x: number) => 3 * x ** 2 - 2 * x ** 3],
  [0.5, 0.5, (x: number) => (2 / Math.PI) * Math.asin(Math.sqrt(x))],
] as const)("follows the distribution of Beta(%d, %d)", (alpha, beta, cdf) => {
  const values = draws(alpha, beta);
  const gap = Math.max(...values.map((value, i) => Math.abs(cdf(value) - (i + 0.5) / values.length)));
  expect(gap).toBeLessThan(1.95 / Math.sqrt(values.length));
});

it("is 0 or 1 where both parameters are next to nothing", () => {
  const rng = seededRng("tiny");
  const values = Array.from({ length: 400 }, () => betaDraw(1e-6, 3e-6, rng));
  expect(values.every((value) => value >= 0 && value <= 1)).toBe(true);
  const ones = values.filter((value) => value > 0.5).length;
  expect(ones).toBeGreaterThan(60);
  expect(ones).toBeLessThan(140);
});

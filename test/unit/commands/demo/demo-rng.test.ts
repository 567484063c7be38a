import { expect, test } from "vitest";
import { createRng, drawInt } from "../../../../src/commands/demo/demo-rng.js";

const draws = (n: number, ...keys: number[]): number[] => {
  const rng = createRng(...keys);
  return Array.from({ length: n }, rng);
};

test("equal keys give equal sequences, different keys different ones", () => {
  expect(draws(100, 7, 1, 3)).toEqual(draws(100, 7, 1, 3));
  const firsts = [draws(1, 7, 1, 3), draws(1, 7, 3, 1), draws(1, 8, 1, 3), draws(1, 0), draws(1, 0, 0)];
  expect(new Set(firsts.map(String)).size).toBe(firsts.length);
});

test("draws are uniform in [0, 1): mean, deviation and all cells", () => {
  const values = draws(20_000, 42);
  expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...values)).toBeLessThan(1);
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  expect(mean).toBeCloseTo(0.5, 2);
  const cells = new Array<number>(16).fill(0);
  for (const v of values) cells[Math.floor(v * 16)]! += 1;
  for (const count of cells) expect(Math.abs(count - 1250)).toBeLessThan(180); // > 5 deviations
});

test("drawInt covers its range and nothing else", () => {
  const rng = createRng(5);
  expect(new Set(Array.from({ length: 200 }, () => drawInt(rng, 3)))).toEqual(new Set([0, 1, 2]));
});

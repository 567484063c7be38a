import { expect, it } from "vitest";
import { drawInt, seededRng } from "../../../../src/scoring/batch/rng.js";

const draw = (rng: () => number, n: number) => Array.from({ length: n }, rng);

it("repeats for the same words and differs for others", () => {
  expect(draw(seededRng("run", 7, 0), 5)).toEqual(draw(seededRng("run", 7, 0), 5));
  expect(draw(seededRng("run", 7, 0), 5)).not.toEqual(draw(seededRng("run", 7, 1), 5));
  expect(draw(seededRng("ab", "c"), 3)).not.toEqual(draw(seededRng("a", "bc"), 3));
});

it("is pinned: the numbers of a recorded step must not change with a release", () => {
  expect(draw(seededRng("run", 1, 0, "main"), 3)).toMatchInlineSnapshot(`
    [
      0.14089819756965238,
      0.5512883495183764,
      0.2892211946524692,
    ]
  `);
});

it("is uniform in [0, 1)", () => {
  const numbers = draw(seededRng("uniform"), 100_000);
  expect(Math.min(...numbers.slice(0, 50_000))).toBeGreaterThanOrEqual(0);
  expect(Math.max(...numbers.slice(0, 50_000))).toBeLessThan(1);
  const bins = new Array<number>(20).fill(0);
  for (const x of numbers) bins[Math.floor(x * 20)]! += 1;
  // chi-square with 19 degrees of freedom: beyond 50 once in 7,000 seeds
  expect(bins.reduce((sum, n) => sum + (n - 5000) ** 2 / 5000, 0)).toBeLessThan(50);
  const mean = numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const lagged = numbers.slice(1).reduce((sum, x, i) => sum + (x - mean) * (numbers[i]! - mean), 0) / numbers.length;
  expect(Math.abs(lagged * 12)).toBeLessThan(0.02);
});

it("draws whole numbers over their range and nothing else", () => {
  const rng = seededRng(5);
  expect(new Set(Array.from({ length: 200 }, () => drawInt(rng, 3)))).toEqual(new Set([0, 1, 2]));
});

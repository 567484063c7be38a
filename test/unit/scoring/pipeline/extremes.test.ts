import fc from "fast-check";
import { expect, test } from "vitest";
import { extremeRows } from "../../../../src/scoring/pipeline/extremes.js";

test("a small step shows every live row, lowest weight first, equal ones by row", () => {
  const found = extremeRows([0, 2, 3, 7], [1, 0.5, 1, 0], { score: (row) => row * 10 });
  expect(found).toEqual({ rows: [7, 2, 0, 3], weights: [0, 0.5, 1, 1], scores: [70, 20, 0, 30] });
});

test("no live row, nothing to show", () => {
  expect(extremeRows([], [])).toBeUndefined();
});

test("a large step shows the ten lowest and the ten highest, as a sort would", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 21, maxLength: 200 }), (weights) => {
      const rows = weights.map((_, k) => 3 * k);
      const order = weights.map((_, k) => k).sort((a, b) => weights[a]! - weights[b]! || a - b);
      const chosen = [...order.slice(0, 10), ...order.slice(-10)];
      const found = extremeRows(rows, weights);
      expect(found?.weights).toEqual(chosen.map((k) => weights[k]));
      expect(found?.rows).toEqual(chosen.map((k) => rows[k]));
    }),
  );
});

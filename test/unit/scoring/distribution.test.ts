import fc from "fast-check";
import { expect, test } from "vitest";
import { quantileOf } from "../../../src/scoring/batch/order.js";
import {
  binsOf,
  MOST_SAMPLED,
  QUANTILES,
  SCORE_EDGES,
  sortedSample,
  WEIGHT_EDGES,
  weightDistribution,
} from "../../../src/scoring/distribution.js";

const whole = (values: ArrayLike<number>): Float64Array => sortedSample(values, [0, values.length]);

test("every element falls into the first bin whose bound it does not exceed", () => {
  fc.assert(
    fc.property(fc.float32Array({ noNaN: true, min: -200, max: 200 }), (values) => {
      for (const edges of [WEIGHT_EDGES, SCORE_EDGES]) {
        const expected = new Array<number>(edges.length + 1).fill(0);
        for (const value of values) {
          const bin = edges.findIndex((edge) => value <= Math.fround(edge));
          expected[bin < 0 ? edges.length : bin]!++;
        }
        expect(binsOf(whole(values), edges).counts).toEqual(expected);
      }
    }),
  );
});

test("bounds are those of float32: a weight 0.1 or 1.1 lies in the bin that is named so", () => {
  for (const edge of WEIGHT_EDGES) {
    const { counts } = binsOf(whole(Float32Array.of(edge)), WEIGHT_EDGES);
    expect([edge, counts.indexOf(1)]).toEqual([edge, WEIGHT_EDGES.indexOf(edge)]);
  }
});

test("bins of shards add up to the bins of everything", () => {
  fc.assert(
    fc.property(fc.float32Array({ noNaN: true, min: 0, max: 20, maxLength: 200 }), fc.nat(200), (values, cut) => {
      const at = Math.min(cut, values.length);
      const [a, b] = [
        binsOf(whole(values.subarray(0, at)), WEIGHT_EDGES),
        binsOf(whole(values.subarray(at)), WEIGHT_EDGES),
      ];
      expect(a.counts.map((n, i) => n + b.counts[i]!)).toEqual(binsOf(whole(values), WEIGHT_EDGES).counts);
    }),
  );
});

test("quantiles as numpy's default has them", () => {
  const numpy = [1.03, 1.3, 3, 6.8, 7.88];
  for (const [i, q] of QUANTILES.entries()) expect(quantileOf(whole([1, 2, 4, 8]), q)).toBeCloseTo(numpy[i]!, 12);
  expect(quantileOf(whole([5]), 0.99)).toBe(5);
  expect(weightDistribution(whole([])).quantiles).toEqual(QUANTILES.map(() => Number.NaN));
  expect(weightDistribution(whole([0, 0, 2, 2]))).toMatchObject({ sum: 4, quantiles: [0, 0, 1, 2, 2] });
});

test("of very many elements an evenly spaced sample over all spans", () => {
  const values = Float32Array.from({ length: 4 * MOST_SAMPLED }, (_, i) => i);
  const spans = Array.from({ length: 64 }, (_, i) => [i * 256, (i + 1) * 256]).flat();
  const sample = sortedSample(values, spans);
  expect(sample).toEqual(Float64Array.from({ length: MOST_SAMPLED }, (_, i) => 4 * i));
  const odd = sortedSample(values, [0, MOST_SAMPLED + 1, values.length - 4, values.length]);
  expect(odd.length).toBeLessThanOrEqual(MOST_SAMPLED);
  expect(odd.at(-1)).toBeGreaterThanOrEqual(values.length - 4);
});

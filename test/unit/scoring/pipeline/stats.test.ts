import fc from "fast-check";
import { expect, it } from "vitest";
import {
  mergeMoments,
  momentsOf,
  NO_MOMENTS,
  scoreStats,
  weightStats,
} from "../../../../src/scoring/pipeline/stats.js";

it("describes weights", () => {
  const stats = weightStats(momentsOf([0, 1, 1, 2]), 0.75);
  expect(stats).toMatchObject({ n: 4, mean: 1, min: 0, max: 2, kept_ratio: 0.75, zero_ratio: 0.25 });
  expect(stats.std).toBeCloseTo(Math.sqrt(0.5), 14);
  expect(stats.ess_ratio).toBeCloseTo(16 / (4 * 6), 14);
});

it("has an effective sample size of 1 for equal weights and 0 for none", () => {
  expect(weightStats(momentsOf([3, 3, 3]), 1).ess_ratio).toBe(1);
  expect(weightStats(momentsOf([0, 0]), 0)).toMatchObject({ mean: 0, ess_ratio: 0, zero_ratio: 1 });
});

it("is all 0 over nothing", () => {
  expect(Object.values(weightStats(NO_MOMENTS, 0))).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect(scoreStats(NO_MOMENTS)).toEqual({ n: 0, mean: 0, std: 0 });
});

it("does not cancel far from 0", () => {
  expect(Math.sqrt(momentsOf([1e9, 1e9 + 1, 1e9 + 2]).m2 / 3)).toBeCloseTo(Math.sqrt(2 / 3), 9);
});

const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { maxLength: 40 });

it("merges shards into what one pass gives, however they are cut and grouped", () => {
  fc.assert(
    fc.property(fc.array(values, { minLength: 1, maxLength: 6 }), (shards) => {
      const whole = momentsOf(shards.flat());
      const parts = shards.map((shard) => momentsOf(shard));
      const fromLeft = parts.reduce(mergeMoments, NO_MOMENTS);
      const fromRight = parts.reduceRight((merged, part) => mergeMoments(part, merged), NO_MOMENTS);
      for (const merged of [fromLeft, fromRight]) {
        expect(merged).toMatchObject({ n: whole.n, min: whole.min, max: whole.max, zeros: whole.zeros });
        expect(Math.abs(merged.mean - whole.mean)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(whole.mean)));
        expect(Math.abs(merged.m2 - whole.m2)).toBeLessThanOrEqual(1e-9 * Math.max(1, whole.m2));
      }
    }),
  );
});

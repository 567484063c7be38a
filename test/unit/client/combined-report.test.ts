import { expect, test } from "vitest";
import { combinedReport } from "../../../src/client/combined-report.js";
import { compose } from "../../../src/client/compose.js";
import { fullSpans } from "../../../src/columns/spans.js";
import type { Weights } from "../../../src/columns/tensor.js";

const counts = Int32Array.of(2, 0, 1, 3);
/** Composed weights to which nothing was done. */
const plain = (weights: Weights, live = counts) => {
  return { weights, counts: live, clipped: { low: 0, high: 0 }, product: { weights, counts: live } };
};

test("row weights: statistics over live rows only", () => {
  const weights = { kind: "row", values: Float32Array.of(2, 9, 0, 1) } as const;
  const report = combinedReport({ ...plain(weights), clipped: { low: 1, high: 0 } })!;
  expect(report.level).toBe("sample");
  expect(report.clipped).toEqual({ low: 1 / 3, high: 0 });
  const { std, ess_ratio, ...rest } = report.stats;
  expect(rest).toEqual({ n: 3, mean: 1, min: 0, max: 2, kept_ratio: 2 / 3, zero_ratio: 1 / 3 });
  expect(std).toBeCloseTo(Math.sqrt(2 / 3), 12);
  expect(ess_ratio).toBeCloseTo((3 * 3) / (3 * 5), 12);
});

test("token weights: statistics over live tokens, rows kept by any weight", () => {
  const offsets = Int32Array.of(0, 2, 4, 5, 8);
  const weights = { kind: "token", offsets, values: Float32Array.of(1, 3, 7, 7, 0, 2, 2, 0) } as const;
  const { level, stats } = combinedReport(plain(weights))!;
  expect(level).toBe("token");
  expect(stats).toMatchObject({ n: 6, min: 0, max: 3, kept_ratio: 2 / 3, zero_ratio: 2 / 6 });
  expect(stats.mean).toBeCloseTo(8 / 6, 12);
});

test("nothing kept, nothing live", () => {
  const zero = { kind: "row", values: new Float32Array(4) } as const;
  expect(combinedReport(plain(zero))!.stats).toMatchObject({
    ess_ratio: 0,
    mean: 0,
  });
  expect(combinedReport(plain(zero, new Int32Array(4)))).toBeUndefined();
});

test("composing answers what it clipped, by what it was before, and what came out", () => {
  const mask = fullSpans(4, 1);
  const rows = { kind: "row", values: Float32Array.of(0, 0.25, 1, 5) } as const;
  const composition = { combine: "multiply", clip: [0.5, 2], rescale: "none" } as const;
  const composed = compose([rows], mask, mask, composition);
  expect(composed.clipped).toEqual({ low: 1, high: 1 });
  expect(combinedReport(composed)).toMatchObject({
    clipped: { low: 0.25, high: 0.25 },
    stats: { mean: 3.5 / 4, max: 2 },
    product: { mean: 6.25 / 4, max: 5 },
  });
});

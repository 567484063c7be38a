import { expect, it } from "vitest";
import { refKl } from "../../../../src/scoring/components/scorers/ref-kl.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";

const score = async (differences: number[]) => {
  const batch = fakeBatch({ ref_log_prob: [differences], old_log_probs: [differences.map(() => 0)] });
  return ((await run(refKl, batch)) as number[][])[0]!;
};

it("is exp(d) - 1 - d", async () => {
  expectClose(await score([-Math.LN2, 0, 1, -1]), [0.193147180559945, 0, Math.E - 2, 1 / Math.E], 1e-12);
});

it("is never negative, and keeps the digits of small differences", async () => {
  const [tiny, small, left, right] = (await score([1e-9, 1e-4, 0.00999999999, 0.01])) as [
    number,
    number,
    number,
    number,
  ];
  expect(tiny / 5e-19 - 1).toBeCloseTo(0, 8);
  expect(small / (1e-8 / 2 + 1e-12 / 6 + 1e-16 / 24) - 1).toBeCloseTo(0, 12);
  // The two ways of computing it meet.
  expect(right / left - 1).toBeGreaterThan(1.9e-9);
  expect(right / left - 1).toBeLessThan(2.1e-9);
});

it("holds the difference within 20", async () => {
  expectClose(await score([50, -50]), [Math.expm1(20) - 20, Math.expm1(-20) + 20], 1e-12);
});

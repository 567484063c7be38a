import { expect, it } from "vitest";
import { advantageMagnitude } from "../../../../src/scoring/components/scorers/advantage-magnitude.js";
import { topkFraction } from "../../../../src/scoring/components/selectors/topk-fraction.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";

const keep = async (scores: number[], params = {}, is_padding: boolean[] = []) => {
  const batch = fakeBatch({ advantages: scores.map(() => [0]) }, { is_padding });
  return run(topkFraction, batch, params, { scores });
};

it("keeps fixture F's largest, ties by row", async () => {
  expect([...(await run([advantageMagnitude, topkFraction], batchF())).kept!]).toEqual([0, 1, 2, 7]);
});

it.each([
  { n: 5, fraction: 0.5, k: 2 },
  { n: 7, fraction: 0.5, k: 4 },
  { n: 3, fraction: 0.5, k: 2 },
  { n: 5, fraction: 0.3, k: 2 },
  { n: 5, fraction: 0.1, k: 1 },
  { n: 4, fraction: 1, k: 4 },
])("keeps $k of $n for fraction $fraction (halves to even)", async ({ n, fraction, k }) => {
  const { kept } = await keep(
    Array.from({ length: n }, (_, i) => -i),
    { fraction },
  );
  expect([...kept!]).toEqual(Array.from({ length: k }, (_, i) => i));
});

it("keeps the highest, or the lowest when asked", async () => {
  expect([...(await keep([3, 1, 4, 1, 5])).kept!]).toEqual([2, 4]);
  expect([...(await keep([3, 1, 4, 1, 5], { largest: false })).kept!]).toEqual([1, 3]);
});

it("takes the lower rows of equal scores, also when they differ by less than float32 can say", async () => {
  expect([...(await keep([1, 1, 1, 1])).kept!]).toEqual([0, 1]);
  expect([...(await keep([0.1, 0.1 + 1e-12, 0.1 + 2e-12, 0])).kept!]).toEqual([0, 1]);
});

it.each([true, false])("never lets padding compete (largest: %s)", async (largest) => {
  const scores = [0.3, 0.5, 0.7, 0.9, 0, 0, 0, 0];
  const outcome = await keep(
    scores,
    { largest },
    scores.map((_, i) => i > 3),
  );
  expect([...outcome.kept!]).toEqual(largest ? [2, 3] : [0, 1]);
  expect(outcome.metrics.kept_frac).toBe(0.5);
});

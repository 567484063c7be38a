import { expect, it } from "vitest";
import { advantageCov } from "../../../../src/scoring/components/scorers/advantage-cov.js";
import { clipCov } from "../../../../src/scoring/components/selectors/clip-cov.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { tokensOf } from "../../../helpers/act.js";

const ones = (rows: number[][]) => fakeBatch({ response_mask: rows.map((row) => row.map(() => 1)) });
const act = (scores: number[][], params: Record<string, unknown> = {}, step = 1) =>
  run(clipCov, ones(scores), params, { scores, step });

it("drops what lies strictly within the bounds", async () => {
  const outcome = await act(
    [
      [0.5, 2, 7],
      [3, 1, 5],
    ],
    { ratio: 1 },
  );
  expect(tokensOf(outcome)).toEqual([
    [1, 0, 1],
    [0, 1, 1],
  ]);
  expect(outcome.metrics).toMatchObject({ tokens_eligible: 2, tokens_dropped: 2 });
});

it("drops no more than its share, but one if any is eligible", async () => {
  const hundred = [Array.from({ length: 100 }, (_, t) => (t < 40 ? 2 : 0))];
  const dropped = async (ratio: number) => (await act(hundred, { ratio })).metrics.tokens_dropped;
  expect(await dropped(0.0002)).toBe(1);
  expect(await dropped(0.129)).toBe(12);
  expect(await dropped(0.9)).toBe(40);
  expect((await act([[0, 0]])).metrics).toMatchObject({ tokens_eligible: 0, tokens_dropped: 0, kept_tokens: 2 });
});

it("draws the same for the same step, another for another, and each eligible token in the long run", async () => {
  const scores = [[2, 3, 0, 4]];
  const drawn = async (step: number) => tokensOf(await act(scores, {}, step))[0]!.indexOf(0);
  expect(await drawn(5)).toBe(await drawn(5));
  const counts = new Map<number, number>();
  for (let step = 0; step < 300; step++) counts.set(await drawn(step), (counts.get(await drawn(step)) ?? 0) + 1);
  expect([...counts.keys()].sort()).toEqual([0, 1, 3]);
  for (const count of counts.values()) expect(count).toBeGreaterThan(70);
});

it("takes the covariance as its score", async () => {
  const batch = fakeBatch({
    advantages: [
      [2, 2],
      [-2, -2],
    ],
    old_log_probs: [
      [-1, -4],
      [-5, -4],
    ],
  });
  // means 0 and −3.5: 5, −1, 3, 1
  const outcome = await run([advantageCov, clipCov], batch, [{}, { ratio: 1 }]);
  expect(tokensOf(outcome)).toEqual([
    [1, 1],
    [0, 1],
  ]);
});

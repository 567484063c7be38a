import { expect, it } from "vitest";
import { rewardDifficulty } from "../../../../src/scoring/components/scorers/reward-difficulty.js";
import { gfpo } from "../../../../src/scoring/components/selectors/gfpo.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";

const keepF = async (params: Record<string, unknown>) => [
  ...(await run([rewardDifficulty, gfpo], batchF(), [{}, params])).kept!,
];

it("keeps fixture F's shortest, and its most reward per token", async () => {
  expect(await keepF({ k: 2, metric: "short" })).toEqual([1, 2, 4, 7]);
  expect(await keepF({ k: 2 })).toEqual([0, 2, 4, 5]);
});

it("keeps groups of at most k rows whole", async () => {
  expect(await keepF({})).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

it("prefers the longest failure when rewards are negative", async () => {
  const lengths = [1, 4, 2, 4];
  const batch = fakeBatch({ response_mask: lengths.map((n) => Array(n).fill(1)), uid: ["a", "a", "a", "a"] });
  const outcome = await run(gfpo, batch, { k: 2 }, { scores: [-1, -1, -1, 1] });
  expect([...outcome.kept!]).toEqual([1, 3]);
});

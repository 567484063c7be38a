import { expect, it } from "vitest";
import { raft } from "../../../../src/scoring/components/reweighters/raft.js";
import { rewardDifficulty } from "../../../../src/scoring/components/scorers/reward-difficulty.js";
import { run } from "../../../../src/testing.js";
import { rowWeights } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";

it("keeps fixture F's first success of each group, as heavy as the whole step", async () => {
  const { weights } = await run([rewardDifficulty, raft], batchF());
  expect([...weights.values]).toEqual([4, 0, 0, 0, 4, 0, 0, 0]);
});

it("keeps k, a small group whole, and one failure among failures", async () => {
  const options = { fields: { uid: ["a", "a", "a", "b"] }, params: { k: 2 }, normalize: "none" } as const;
  expect(await rowWeights(raft, [0.1, 0.3, 0.2, 0], options)).toEqual([0, 1, 1, 1]);
  expect(await rowWeights(raft, [0, 0, 0], { normalize: "none" })).toEqual([1, 0, 0]);
});

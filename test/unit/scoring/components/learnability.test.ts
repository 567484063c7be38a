import { expect, it } from "vitest";
import { learnability } from "../../../../src/scoring/components/scorers/learnability.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";

it("is rate times failure rate on fixture F", async () => {
  expect(await run(learnability, batchF())).toEqual([0.25, 0.25, 0.25, 0.25, 0.1875, 0.1875, 0.1875, 0.1875]);
});

it("has nothing to learn where all outcomes are equal, and moves with the threshold", async () => {
  const batch = fakeBatch({ rm_scores: [[0.6], [0.9], [1]], uid: ["a", "a", "b"] });
  expect(await run(learnability, batch)).toEqual([0, 0, 0]);
  expect(await run(learnability, batch, { success_threshold: 0.8 })).toEqual([0.25, 0.25, 0]);
});

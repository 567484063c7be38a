import { expect, it } from "vitest";
import { lengthEfficiency } from "../../../../src/scoring/components/scorers/length-efficiency.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

it("is fixture F's reward a token", async () => {
  expectClose((await run(lengthEfficiency, batchF())) as number[], [0.25, 0, 0.5, 0, 1, 1 / 3, 0.25, 0], 1e-12);
});

it("prefers the longer of two failures with negative reward, and counts reward outside the mask", async () => {
  const rm_scores = [
    [-1, 0],
    [-1, 0],
  ];
  const response_mask = [
    [1, 1],
    [1, 0],
  ];
  expect(await run(lengthEfficiency, fakeBatch({ rm_scores, response_mask }))).toEqual([-0.5, -1]);
  const masked = fakeBatch({ rm_scores: [[0, 1]], response_mask: [[1, 0]] });
  expect(await run(lengthEfficiency, masked)).toEqual([0]);
  expect(await run(lengthEfficiency, masked, { mask_reward: false })).toEqual([1]);
});

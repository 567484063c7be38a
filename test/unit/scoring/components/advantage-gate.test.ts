import { expect, it } from "vitest";
import { advantageGate } from "../../../../src/scoring/components/selectors/advantage-gate.js";
import { keptRows } from "../../../helpers/act.js";

const uid = ["a", "a", "b", "b"];
const gate = (advantages: number[][], params = {}, response_mask = advantages.map((row) => row.map(() => 1))) =>
  keptRows(advantageGate, [0, 0, 0, 0], { fields: { uid, advantages, response_mask }, params });

it("drops groups without any advantage", async () => {
  expect(await gate([[0], [0], [0.5], [-0.5]])).toEqual([2, 3]);
  expect(await gate([[0, 0], [0], [0, 0.1], [0]])).toEqual([2, 3]);
});

it("looks at single tokens, not at the row's mean, and only where the mask is 1", async () => {
  expect(await gate([[1, -1], [0], [0], [0]])).toEqual([0, 1]);
  expect(await gate([[0, 1], [0], [0], [0]], {}, [[1, 0], [1], [1], [1]])).toEqual([]);
});

it("has a band of one's own, ends in it", async () => {
  const params = { reject_min: -0.1, reject_max: 0.2 };
  expect(await gate([[-0.1], [0.2], [-0.11], [0]], params)).toEqual([2, 3]);
});

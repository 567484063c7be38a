import { expect, it } from "vitest";
import { z } from "zod";
import { defineReweighter } from "../../../../src/scoring/components/define.js";
import { softmax } from "../../../../src/scoring/components/reweighters/softmax.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";

/** Weights as given. */
const plain = defineReweighter({ name: "plain", accepts: "row", params: z.strictObject({}), act: (scores) => scores });
const plainTokens = defineReweighter({
  name: "plain_tokens",
  accepts: "token",
  params: z.strictObject({}),
  act: (scores) => scores,
});

const weigh = async (
  scores: number[],
  normalize: "none" | "row" | "token",
  is_padding: boolean[] = [],
  lengths = scores.map(() => 1),
) => {
  const batch = fakeBatch({ response_mask: lengths.map((n) => Array(n).fill(1)) }, { is_padding });
  return run(plain, batch, {}, { scores, settings: { normalize } });
};

it("leaves weights, or makes their mean over rows or tokens one", async () => {
  expectClose((await weigh([1, 2, 3], "none")).weights.values, [1, 2, 3]);
  expectClose((await weigh([1, 2, 3], "row")).weights.values, [0.5, 1, 1.5]);
  // Σ w·m = 1·3 + 3·1 = 6 for 4 tokens
  expectClose((await weigh([1, 3], "token", [], [3, 1])).weights.values, [4 / 6, 2]);
});

it("does not count padding rows, which get 0", async () => {
  expectClose((await weigh([1, 2, 3, 1e-4], "row", [false, false, false, true])).weights.values, [0.5, 1, 1.5, 0]);
});

it("does not let padding into a softmax", async () => {
  const batch = fakeBatch({ values: [[0], [0], [0], [0]] }, { is_padding: [false, false, true, true] });
  const outcome = await run(softmax, batch, {}, { scores: [1, 1, 0, 0] });
  expectClose(outcome.weights.values, [1, 1, 0, 0]);
});

it("normalises token weights over live tokens, or over rows", async () => {
  const batch = fakeBatch({
    response_mask: [
      [1, 1, 1],
      [1, 0],
    ],
  });
  const scores = [[1, 1, 1], [3]];
  const byToken = await run(plainTokens, batch, {}, { scores, settings: { normalize: "token" } });
  expectClose(byToken.weights.values, [4 / 6, 4 / 6, 4 / 6, 2]);
  const byRow = await run(plainTokens, batch, {}, { scores, settings: { normalize: "row" } });
  expectClose(byRow.weights.values, [0.5, 0.5, 0.5, 1.5]);
  if (byRow.weights.kind === "token") expect([...byRow.weights.offsets]).toEqual([0, 3, 4]);
});

it("is neutral and says so when the sum is 0", async () => {
  const outcome = await weigh([0, 0, 0], "row", [false, false, true]);
  expectClose(outcome.weights.values, [1, 1, 0]);
  expect(outcome.flags).toEqual(["degenerate"]);
  expect(outcome.warnings).toHaveLength(1);
});

it("takes tiny sums as they are", async () => {
  const outcome = await weigh([1e-30, 3e-30], "row");
  expectClose(outcome.weights.values, [0.5, 1.5]);
  expect(outcome.flags).toEqual([]);
});

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

it.each(["none", "row", "token"] as const)(
  "leaves zeros alone, of rows and tokens, and says so (%s)",
  async (normalize) => {
    const rows = await weigh([0, 0, 1], normalize, [false, false, true]);
    const mask = fakeBatch({
      response_mask: [
        [1, 1],
        [1, 0],
      ],
    });
    const tokens = await run(plainTokens, mask, {}, { scores: [[0, 0], [0]], settings: { normalize } });
    for (const outcome of [rows, tokens]) {
      expect([...outcome.weights.values]).toEqual([0, 0, 0]);
      expect(outcome.flags).toEqual(["all_zero"]);
      expect(outcome.warnings).toHaveLength(1);
    }
  },
);

it.each([1e-30, 1e-310, 1e38])("brings weights of any size to mean one: %s", async (size) => {
  const outcome = await weigh([size, 3 * size], "row");
  expectClose(outcome.weights.values, [0.5, 1.5]);
  expect(outcome.flags).toEqual([]);
  const mask = fakeBatch({
    response_mask: [
      [1, 1],
      [1, 0],
    ],
  });
  const tokens = await run(
    plainTokens,
    mask,
    {},
    { scores: [[size, size], [3 * size]], settings: { normalize: "row" } },
  );
  expectClose(tokens.weights.values, [0.5, 0.5, 1.5]);
});

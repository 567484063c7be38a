import { expect, it } from "vitest";
import { gtpo } from "../../../../src/scoring/components/reweighters/gtpo.js";
import { tokenEntropy } from "../../../../src/scoring/components/scorers/token-entropy.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { tokensOf } from "../../../helpers/act.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

const settings = { normalize: "none" } as const;

it("distributes fixture F's credit", async () => {
  const outcome = await run([tokenEntropy, gtpo], batchWithTokensF(), [], { settings });
  const want = [
    [1.025, 1.1125, 1.1, 1.1],
    [1.15, 1.046154, 1.093333],
    [1.175, 1.0875],
    [1.05, 1.153846, 1.106667, 1.1],
    [1.097059],
    [1.070588, 1.02, 1.1625],
    [1.132353, 1.18, 1.0375, 1.1],
    [1.1, 1.1],
  ];
  expectClose(tokensOf(outcome).flat(), want.flat());
});

it("compares positions in the response, whatever is masked before them", async () => {
  const batch = fakeBatch({
    entropy: [
      [1, 5, 1],
      [3, 2],
    ],
    response_mask: [
      [0, 1, 1],
      [1, 1],
    ],
    rm_scores: [
      [0, 0, 1],
      [0, 1],
    ],
    uid: ["a", "a"],
  });
  const params = [{}, { a1: 0, a2: 1 }] as const;
  // Position 0: the second row alone; position 1: 5 and 2 of 7; position 2: the first row alone.
  expectClose(tokensOf(await run([tokenEntropy, gtpo], batch, params, { settings })).flat(), [10 / 7, 1, 1, 4 / 7]);
});

it("takes certain and uncertain tokens alike where entropy is 0", async () => {
  const zeros = { entropy: [[0], [0]], rm_scores: [[1], [1]], uid: ["a", "a"] };
  const right = await run([tokenEntropy, gtpo], fakeBatch(zeros), [], { settings });
  expectClose(right.weights.values, [1.1, 1.1]);
  const wrong = await run([tokenEntropy, gtpo], fakeBatch({ ...zeros, rm_scores: [[0], [0]] }), [], { settings });
  expectClose(wrong.weights.values, [1.1, 1.1]);
});

it("counts reward outside the mask like every reader of rewards", async () => {
  const batch = fakeBatch({ entropy: [[1, 1]], rm_scores: [[0, 1]], response_mask: [[1, 0]], uid: ["a"] });
  const { metrics } = await run([tokenEntropy, gtpo], batch);
  expect(metrics.rows_reward_outside_mask).toBe(1);
});

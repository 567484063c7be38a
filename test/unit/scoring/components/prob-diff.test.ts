import { expect, it } from "vitest";
import { probDiff } from "../../../../src/scoring/components/scorers/prob-diff.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

it("subtracts the engine's probability from the trainer's on fixture F", async () => {
  const want = [
    [0, 0, 0.1, -0.4],
    [1.6 / 3, 0, 0],
    [0, 0.375],
    [-0.75, 0, 0, 0],
    [0],
    [-0.6, 0.45, 0],
    [0, 0, 0, 0],
    [0.42, -0.15],
  ];
  const have = (await run(probDiff, batchWithTokensF())) as number[][];
  expectClose(have.flat(), want.flat(), 1e-12);
});

it("is 0 where the two agree, however unlikely the token", async () => {
  const log = [[-50, 0]];
  expect(await run(probDiff, fakeBatch({ old_log_probs: log, rollout_log_probs: log }))).toEqual([[0, 0]]);
});

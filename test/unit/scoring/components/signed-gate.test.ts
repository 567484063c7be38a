import { expect, it } from "vitest";
import { binaryKl } from "../../../../src/scoring/components/scorers/binary-kl.js";
import { probDiff } from "../../../../src/scoring/components/scorers/prob-diff.js";
import { signedGate } from "../../../../src/scoring/components/selectors/signed-gate.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { tokensOf } from "../../../helpers/act.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

it("judges fixture F's tokens by the direction that the advantage pushes", async () => {
  const outcome = await run([probDiff, signedGate], batchWithTokensF());
  // Rows 0, 2, 4, 5, 6 have a positive advantage: only rises beyond 0.2 count. Rows 1, 3, 7: only falls.
  const want = [[1, 1, 1, 1], [1, 1, 1], [1, 0], [0, 1, 1, 1], [1], [1, 0, 1], [1, 1, 1, 1], [1, 1]];
  expect(tokensOf(outcome)).toEqual(want);
  expect(outcome.metrics).toMatchObject({ tokens_dropped_high: 2, tokens_dropped_low: 1 });
});

it("has a bound for each direction, both in what is kept", async () => {
  const outcome = await run([probDiff, signedGate], batchWithTokensF(), [{}, { low: 0.15, high: 0.375 }]);
  const want = [[1, 1, 1, 1], [1, 1, 1], [1, 1], [0, 1, 1, 1], [1], [1, 0, 1], [1, 1, 1, 1], [1, 1]];
  expect(tokensOf(outcome)).toEqual(want);
});

it("treats an advantage of 0 as a negative one, and takes single tokens' advantages", async () => {
  const scores = [[0.5, -0.5, 0.5, -0.5]];
  const batch = fakeBatch({ advantages: [[0, 0, 1, 1]] });
  expect(tokensOf(await run(signedGate, batch, {}, { scores }))).toEqual([[1, 0, 0, 1]]);
});

it("goes with a divergence that carries the sign of the move", async () => {
  const move = { old_log_probs: [[0.5, 0.25].map(Math.log)], rollout_log_probs: [[0.25, 0.5].map(Math.log)] };
  const gate = async (advantages: number[][]) =>
    tokensOf(
      await run([binaryKl, signedGate], fakeBatch({ ...move, advantages }), [{}, { low: 0.14, high: 0.13 }], {
        settings: { on_empty: "drop_all" },
      }),
    );
  expect(await gate([[1, 1]])).toEqual([[0, 1]]);
  expect(await gate([[-1, -1]])).toEqual([[1, 0]]);
});

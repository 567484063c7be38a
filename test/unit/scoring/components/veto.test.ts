import { expect, it } from "vitest";
import { isRatio } from "../../../../src/scoring/components/scorers/is-ratio.js";
import { veto } from "../../../../src/scoring/components/selectors/veto.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { tokensOf } from "../../../helpers/act.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

const vetoF = (params: Record<string, unknown>) => run([isRatio, veto], batchWithTokensF(), [{}, params]);

it("drops fixture F's rows with a single token out of bounds, whole", async () => {
  expect([...(await vetoF({ low: 0.3 })).kept!]).toEqual([0, 1, 2, 4, 5, 6, 7]);
  expect([...(await vetoF({ low: null, high: 2.2 })).kept!]).toEqual([0, 3, 4, 5, 6]);
  const both = await vetoF({ low: 0.45, high: 2.2 });
  expect([...both.kept!]).toEqual([0, 4, 5, 6]);
  expect(both.metrics).toMatchObject({ tokens_vetoed: 5, rows_vetoed: 4, kept_tokens: 12 });
});

it("keeps a ratio on the bound, and everything at slime's default here", async () => {
  expect([...(await vetoF({ low: 0.25, high: 4 })).kept!]).toHaveLength(8);
  expect([...(await vetoF({})).kept!]).toHaveLength(8);
});

it("does not look under the mask", async () => {
  const batch = fakeBatch({
    response_mask: [
      [1, 0],
      [1, 1],
    ],
  });
  expect(tokensOf(await run(veto, batch, {}, { scores: [[1], [1, 1e-5]] }))).toEqual([[1], [0, 0]]);
});

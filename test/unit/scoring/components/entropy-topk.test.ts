import { describe, expect, it } from "vitest";
import { entropyTopkReweighter } from "../../../../src/scoring/components/reweighters/entropy-topk.js";
import { tokenEntropy } from "../../../../src/scoring/components/scorers/token-entropy.js";
import { entropyTopkSelector } from "../../../../src/scoring/components/selectors/entropy-topk-selector.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { tokensOf } from "../../../helpers/act.js";
import { batchWithTokensF, entropyF } from "../../../helpers/fixture-f-tokens.js";

const fifth = [[0, 0, 1, 0], [0, 1, 0], [0, 0], [0, 0, 0, 0], [0], [0, 0, 1], [1, 0, 0, 0], [0, 1]];

describe.each([
  { kind: "reweighter", component: entropyTopkReweighter },
  { kind: "selector", component: entropyTopkSelector },
] as const)("entropy_topk, $kind", ({ component }) => {
  const settings = { normalize: "none" } as const;

  it("keeps fixture F's five most uncertain tokens of 23", async () => {
    const outcome = await run([tokenEntropy, component], batchWithTokensF(), [], { settings });
    expect(tokensOf(outcome)).toEqual(fifth);
  });

  it("keeps both that tie at the threshold", async () => {
    const outcome = await run([tokenEntropy, component], batchWithTokensF(), [{}, { fraction: 0.5 }], { settings });
    expect(tokensOf(outcome)).toEqual(entropyF.map((row) => row.map((h) => Number(h >= 0.8))));
    expect(outcome.weights.values.filter((weight) => weight === 1)).toHaveLength(12);
  });

  it("keeps everything that is equal, and everything for fraction 1", async () => {
    const equal = fakeBatch({ entropy: [[0.3, 0.3], [0.3]] });
    expect(tokensOf(await run([tokenEntropy, component], equal, [], { settings }))).toEqual([[1, 1], [1]]);
    const all = await run([tokenEntropy, component], batchWithTokensF(), [{}, { fraction: 1 }], { settings });
    expect(all.weights.values.every((weight) => weight === 1)).toBe(true);
  });
});

it("divides by the kept tokens under the default normaliser, and the selector by none", async () => {
  const reweighted = await run([tokenEntropy, entropyTopkReweighter], batchWithTokensF());
  expect(Math.max(...reweighted.weights.values)).toBeCloseTo(23 / 5, 6);
  const selected = await run([tokenEntropy, entropyTopkSelector], batchWithTokensF());
  expect(selected.metrics).toMatchObject({ kept_tokens: 5, kept_frac: 5 / 23 });
  expect([...selected.kept!]).toEqual([0, 1, 5, 6, 7]);
});

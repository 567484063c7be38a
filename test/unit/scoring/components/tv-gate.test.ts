import { expect, it } from "vitest";
import { probDiff } from "../../../../src/scoring/components/scorers/prob-diff.js";
import { tvGate } from "../../../../src/scoring/components/selectors/tv-gate.js";
import { run } from "../../../../src/testing.js";
import { tokensOf } from "../../../helpers/act.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

const keep = async (delta: number) => tokensOf(await run([probDiff, tvGate], batchWithTokensF(), [{}, { delta }]));

it("keeps fixture F's tokens within 0.1 in either direction, the bound in", async () => {
  expect(await keep(0.1)).toEqual([
    [1, 1, 1, 0],
    [0, 1, 1],
    [1, 0],
    [0, 1, 1, 1],
    [1],
    [0, 0, 1],
    [1, 1, 1, 1],
    [0, 0],
  ]);
});

it("keeps all up to 1, and only equal ones at 0", async () => {
  expect((await keep(1)).flat().every((kept) => kept === 1)).toBe(true);
  expect((await keep(0)).flat().filter((kept) => kept === 1)).toHaveLength(14);
});

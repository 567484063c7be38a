import { expect, it } from "vitest";
import { geoIsRatio } from "../../../../src/scoring/components/scorers/geo-is-ratio.js";
import { opsm } from "../../../../src/scoring/components/selectors/opsm.js";
import { run } from "../../../../src/testing.js";
import { keptRows } from "../../../helpers/act.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

const keep = (scores: number[], advantages: number[], delta: number) =>
  keptRows(opsm, scores, { params: { delta }, fields: { advantages: advantages.map((a) => [a]) } });

it("drops the one row of fixture F that is bad and has become unlikely", async () => {
  const outcome = await run([geoIsRatio, opsm], batchWithTokensF());
  expect([...outcome.kept!]).toEqual([0, 1, 2, 4, 5, 6, 7]);
  expect(outcome.metrics.rows_off_policy).toBe(1);
});

it("leaves good rows, rows without advantage, and rows near enough alone", async () => {
  expect(await keep([0.5, 0.5, 0.5, 0.99], [-1, 1, 0, -1], 0.1)).toEqual([1, 2, 3]);
});

it("counts the bound as near enough", async () => {
  const ratio = Math.exp(-0.25);
  expect(await keep([ratio], [-1], 0.25)).toEqual([0]);
  expect(await keep([ratio, 1], [-1, -1], 0.2499)).toEqual([1]);
});

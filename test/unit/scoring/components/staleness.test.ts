import { expect, it } from "vitest";
import { stalenessDecay } from "../../../../src/scoring/components/reweighters/staleness-decay.js";
import { staleness } from "../../../../src/scoring/components/scorers/staleness.js";
import { stalenessCutoff } from "../../../../src/scoring/components/selectors/staleness-cutoff.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { rowWeights } from "../../../helpers/act.js";
import { expectClose } from "../../../helpers/close.js";

const batch = fakeBatch({ response_mask: [[1], [1], [1], [1]], policy_version: [8, 6, 3, 9] });

it("counts updates since the version that a response was finished with, and never below 0", async () => {
  expect(await run(staleness, batch, {}, { step: 9 })).toEqual([0, 2, 5, 0]);
});

it("tells how many rows are stale, and by how much in sum", async () => {
  const { metrics } = await run([staleness, stalenessCutoff], batch, [], { step: 9 });
  expect(metrics).toMatchObject({ rows_stale: 2, staleness_sum: 7 });
});

it("drops what is older than the bound, which belongs to what is kept", async () => {
  const keep = async (max_staleness: number) => [
    ...(await run([staleness, stalenessCutoff], batch, [{}, { max_staleness }], { step: 9 })).kept!,
  ];
  expect(await keep(8)).toEqual([0, 1, 2, 3]);
  expect(await keep(2)).toEqual([0, 1, 3]);
  expect(await keep(0)).toEqual([0, 3]);
});

it("keeps nothing of a step that is too old as a whole", async () => {
  const outcome = await run([staleness, stalenessCutoff], batch, [], { step: 100 });
  expect([...outcome.kept!]).toEqual([]);
  expect(outcome.flags).toEqual(["empty_selection"]);
});

it("lets the weight fall with age", async () => {
  expectClose(await rowWeights(stalenessDecay, [0, 1, 3], { normalize: "none" }), [1, 0.5, 0.25]);
  expectClose(await rowWeights(stalenessDecay, [0, 1, 3]), [12 / 7, 6 / 7, 3 / 7]);
  expectClose(await rowWeights(stalenessDecay, [4, 4]), [1, 1]);
});

import { expect, it } from "vitest";
import { rewardDifficulty } from "../../../../src/scoring/components/scorers/reward-difficulty.js";
import { gfpoAdaptive } from "../../../../src/scoring/components/selectors/gfpo-adaptive.js";
import { run } from "../../../../src/testing.js";
import { actOnRows, keptRows } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";

/** Eleven steps that showed 0, 1/40 … 1 between them: quartiles .25, .5 and .75. */
const grid = Array.from({ length: 41 }, (_, k) => k / 40);
const history = Array.from({ length: 11 }, (_, k) => ({
  step: k,
  trigger: 0,
  values: [["group_means", ...grid.slice(4 * k, 4 * k + 4)] as const],
}));

/** Four groups of ten with mean scores .2, .3, .6 and .9, all of one length: the highest scores are the most efficient. */
const means = [0.2, 0.3, 0.6, 0.9];
const scores = means.flatMap((mean) => Array.from({ length: 10 }, (_, i) => mean + (4.5 - i) / 100));
const fields = { uid: means.flatMap((mean) => new Array<string>(10).fill(`group ${mean}`)) };
const counts = (kept: number[]) => [0, 1, 2, 3].map((g) => kept.filter((row) => Math.floor(row / 10) === g).length);

it("keeps fewer rows of easier groups, the best first", async () => {
  const kept = await keptRows(gfpoAdaptive, scores, { fields, history });
  expect(counts(kept)).toEqual([8, 8, 6, 4]);
  expect(kept.slice(-4)).toEqual([30, 31, 32, 33]);
});

it("takes a mean on a quartile as harder", async () => {
  const at = [0.25, 0.5, 0.75, 0.76];
  const exact = at.flatMap((mean) => new Array<number>(10).fill(mean));
  const params = { k_hardest: 8, k_hard: 7, k_medium: 6, k_easy: 5 };
  const uid = { uid: at.flatMap((mean) => new Array<string>(10).fill(`group ${mean}`)) };
  expect(counts(await keptRows(gfpoAdaptive, exact, { fields: uid, history, params }))).toEqual([8, 7, 6, 5]);
});

it.each([
  { what: "no step is known", known: [] },
  { what: "too few steps are known", known: history.slice(0, 9) },
  {
    what: "too few groups are known",
    known: history.map((step) => ({ ...step, values: [["group_means", 0.5] as const] })),
  },
])("keeps k_hardest of each group where $what", async ({ known }) => {
  expect(counts(await keptRows(gfpoAdaptive, scores, { fields, history: known }))).toEqual([8, 8, 8, 8]);
});

it("takes the latest group means only", async () => {
  const old = { step: -1, trigger: 0, values: [["group_means", ...new Array<number>(1000).fill(5)] as const] };
  const params = { history: 41 };
  expect(counts(await keptRows(gfpoAdaptive, scores, { fields, history: [old, ...history], params }))).toEqual([
    8, 8, 6, 4,
  ]);
});

it("drops at least one row of a group, but not a row alone", async () => {
  expect(await keptRows(gfpoAdaptive, [1, 1, 1], { fields: { uid: ["a", "a", "b"] } })).toEqual([0, 2]);
});

it("keeps fixture F's shortest or most efficient, as gfpo does", async () => {
  const two = (metric: string) => run([rewardDifficulty, gfpoAdaptive], batchF(), [{}, { k_hardest: 2, metric }]);
  expect([...(await two("short")).kept!]).toEqual([1, 2, 4, 7]);
  expect([...(await two("efficiency")).kept!]).toEqual([0, 2, 4, 5]);
});

it("remembers each group's mean once, live rows only", async () => {
  const { remember } = await actOnRows(gfpoAdaptive, [1, 0, 1, 9, 9], {
    fields: { uid: ["a", "a", "b", "b", "pad"] },
    is_padding: [false, false, false, true, true],
  });
  expect(remember?.values).toEqual([["group_means", 0.5, 1]]);
});

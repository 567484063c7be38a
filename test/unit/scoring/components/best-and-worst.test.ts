import { expect, it } from "vitest";
import { bestAndWorst } from "../../../../src/scoring/components/selectors/best-and-worst.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { keptRows } from "../../../helpers/act.js";
import { fixtureF } from "../../../helpers/fixture-f.js";

it("keeps the best and the worst of each group", async () => {
  expect(await keptRows(bestAndWorst, [0.2, 0.9, 0.5, 0.1])).toEqual([1, 3]);
  expect(await keptRows(bestAndWorst, fixtureF.rewards, { fields: { uid: fixtureF.uid } })).toEqual([0, 1, 4, 7]);
});

it("keeps two rows of a group that is equal, and the one of a group of one", async () => {
  expect(await keptRows(bestAndWorst, [3, 3, 3])).toEqual([0, 1]);
  expect(await keptRows(bestAndWorst, [0.3, 0.4], { fields: { uid: ["a", "b"] } })).toEqual([0, 1]);
});

it("draws another row when asked: the same for a step, another at times", async () => {
  const scores = [0, 1, 0.2, 0.4, 0.6];
  const batch = fakeBatch({ response_mask: scores.map(() => [1]), uid: scores.map(() => "a") });
  const draw = async (step: number) => {
    const { kept } = await run(bestAndWorst, batch, { partner: "random" }, { scores, step });
    expect(kept).toContain(1);
    expect(kept).toHaveLength(2);
    return [...kept!].find((row) => row !== 1);
  };
  const steps = Array.from({ length: 40 }, (_, step) => step);
  const drawn = await Promise.all(steps.map(draw));
  expect(await Promise.all(steps.map(draw))).toEqual(drawn);
  expect([...new Set(drawn)].sort()).toEqual([0, 2, 3, 4]);
});

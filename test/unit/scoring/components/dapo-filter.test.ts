import { expect, it } from "vitest";
import { dapoFilter } from "../../../../src/scoring/components/selectors/dapo-filter.js";
import { actOnRows, keptRows } from "../../../helpers/act.js";

it("drops groups of equal scores, but not a row alone", async () => {
  const uid = ["a", "a", "a", "b", "b", "b", "c"];
  expect(await keptRows(dapoFilter, [1, 1, 1, 1, 0, 1, 0], { fields: { uid } })).toEqual([3, 4, 5, 6]);
});

it("takes scores equal in float32 as equal, where a deviation would not be 0", async () => {
  expect(await keptRows(dapoFilter, [0.1, 0.1 + 1e-12, 0.1])).toEqual([]);
});

it("does not see padding", async () => {
  expect(await keptRows(dapoFilter, [1, 1, 0], { is_padding: [false, false, true] })).toEqual([]);
});

it("counts the groups that it drops, and at which level of reward", async () => {
  const fields = { uid: ["a", "a", "b", "b", "c", "c", "d", "d"] };
  const { metrics } = await actOnRows(dapoFilter, [1, 1, 0, 0, 1, 1, 0, 1], { fields });
  expect(metrics).toMatchObject({ groups_dropped: 3, groups_dropped_reward: 2 });
});

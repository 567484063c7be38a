import { expect, it } from "vitest";
import { dapoFilter } from "../../../../src/scoring/components/selectors/dapo-filter.js";
import { keptRows } from "../../../helpers/act.js";

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

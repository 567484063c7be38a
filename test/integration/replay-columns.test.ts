import { expect, test } from "vitest";
import { block, replays } from "../helpers/replays.js";

/** Columns of a recorded step's own, and the forms that trainers have them in, through real services. */
const replay = replays();
const response_mask = [
  [1, 1, 0],
  [1, 1, 1],
];
const keep = ["threshold_band", { low: 0.5, high: 100 }] as const;

test.each([
  ["one number a row", { acc: [0.25, 1] }],
  [
    "one number a token",
    {
      acc: [
        [0.25, 0.25, 9],
        [1, 1, 1],
      ],
    },
  ],
])("a column of %s is a score", async (_form, own) => {
  const step = { fields: { response_mask, ...own } };
  expect(
    (await replay.answer(step, block("select", ["column", { name: "acc" }], [...keep]))).pipelines[0]!.kept,
  ).toEqual([1]);
});

test("the row of a session with the highest index counts, whatever the order; rewards may be one number a row", async () => {
  const moved = {
    fields: { rm_scores: [1, 0, 0], response_mask: [[1], [1], [1]] },
    uid: ["g", "g", "g"],
    session: [0, 1, 0],
    session_index: [1, 0, 0],
  };
  const band = block("select", ["group_mean_reward"], ["threshold_band", { low: 0.4, high: 0.6 }]);
  expect((await replay.answer(moved, band)).pipelines[0]!.kept).toEqual([0, 1, 2]);
  const twice = await replay.run({ ...moved, session_index: [1, 0, 1] }, band);
  expect([twice.code, twice.err]).toEqual([2, expect.stringContaining("rows 0 and 2 both have index 1")]);
});

test("token fields of different widths are refused with both", async () => {
  const step = { fields: { response_mask, advantages: [[1], [1]] } };
  const refused = await replay.run(step, block("reweight", ["advantage_magnitude"], ["softmax"]));
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("3 and 1 wide")]);
});

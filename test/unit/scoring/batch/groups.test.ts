import { expect, it } from "vitest";
import { fakeBatch } from "../../../../src/testing.js";

const batch = fakeBatch(
  {
    response_mask: [[1], [1], [1], [1], [0], [1]],
    uid: ["a", "b", "a", "a", "a", "b"],
  },
  { is_padding: [false, false, false, false, false, true] },
);
const v = batch.vector([1, 7, 2, 6, 100, 1000]);
const groups = batch.groupBy("uid");

it("takes statistics over live rows and spreads them to the group's rows; padding gets 0", () => {
  expect([...groups.mean(v).values]).toEqual([3, 7, 3, 3, 3, 0]);
  expect([...groups.sum(v).values]).toEqual([9, 7, 9, 9, 9, 0]);
  expect([...groups.max(v).values]).toEqual([6, 7, 6, 6, 6, 0]);
  expect([...groups.min(v).values]).toEqual([1, 7, 1, 1, 1, 0]);
  expect([...groups.count().values]).toEqual([3, 1, 3, 3, 3, 0]);
});

it("takes the unbiased deviation, 0 for a group of one", () => {
  const [a, b] = groups.std(v).values;
  expect(a).toBeCloseTo(Math.sqrt(7), 14);
  expect(b).toBe(0);
});

it("normalises a pair of rewards to ±0.7071058 (unbiased), as GRPO does", () => {
  const pair = fakeBatch({ values: [[0], [0]], uid: ["a", "a"] });
  const reward = pair.vector([0, 1]);
  const of = pair.groupBy("uid");
  const advantage = reward.sub(of.mean(reward)).div(of.std(reward).add(1e-6));
  expect(advantage.values[1]).toBeCloseTo(0.7071058, 6);
});

it("keeps a nearly constant group's spread", () => {
  const four = fakeBatch({ values: [[0], [0], [0], [0]], uid: ["a", "a", "a", "a"] });
  const reward = four.vector([1, 1.00001, 1.00002, 1.00003]);
  const of = four.groupBy("uid");
  const advantage = reward.sub(of.mean(reward)).div(of.std(reward).add(1e-6));
  expect(advantage.values[0]).toBeCloseTo(-1.0785, 3);
  expect(advantage.values[1]).toBeCloseTo(-0.3595, 3);
});

it("marks the k best live rows of each group, ties by row", () => {
  expect([...groups.top(2, v).values]).toEqual([0, 1, 1, 1, 0, 0]);
  expect([...groups.top(1, v, { largest: false }).values]).toEqual([1, 1, 0, 0, 0, 0]);
  expect([...groups.top(1, batch.vector([5, 5, 5, 5, 5, 5])).values]).toEqual([1, 1, 0, 0, 0, 0]);
});

it("hands out each group's live rows", () => {
  expect(groups.members().map((rows) => [...rows])).toEqual([[0, 2, 3], [1]]);
});

it("counts the last live row of each session", () => {
  const sessions = fakeBatch({
    response_mask: [[1], [1], [1], [0]],
    uid: ["a", "a", "a", "a"],
    session: ["0", "0", "1", "1"],
  });
  expect([...sessions.groupBy("uid").mean(sessions.vector([9, 1, 3, 50])).values]).toEqual([2, 2, 2, 2]);
  expect(sessions.groupSizes("uid")).toEqual([{ name: "a", size: 2 }]);
});

it("counts the live row of the highest index of each session, wherever it stands", () => {
  const sessions = fakeBatch({
    response_mask: [[1], [1], [1], [0], [1]],
    uid: ["a", "a", "a", "a", "b"],
    session: ["0", "0", "1", "0", "0"],
    session_index: [7, 2, 0, 9, 0],
  });
  expect([...sessions.lastOfSession()]).toEqual([1, 0, 1, 0, 1]);
  expect([...sessions.groupBy("uid").mean(sessions.vector([9, 1, 3, 50, 5])).values]).toEqual([6, 6, 6, 6, 5]);
});

it("says what is missing when there is no such column", () => {
  expect(() => batch.groupBy("domain")).toThrow(
    expect.objectContaining({ code: "COMPONENT", message: expect.stringContaining("domain") }),
  );
});

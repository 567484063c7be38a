import { expect, test } from "vitest";
import { COMBINED as PAGE_COMBINED, RunHistory } from "../../../../src/observe/page/page-history.js";
import { COMBINED } from "../../../../src/observe/verdict/verdict-types.js";
import { mountRecord, released, result } from "./records.js";

const historyOf = (records: readonly Parameters<RunHistory["add"]>[0][]): RunHistory => {
  const history = new RunHistory();
  for (const record of records) history.add(record);
  return history;
};

test("each step once and in order, however often and in whatever order it arrives", () => {
  const [one, two, three] = [result(1), result(2), result(3)];
  const history = historyOf([three, one, three, two, one]);
  expect(history.of("main").steps).toEqual([1, 2, 3]);
  expect(history.add(two)).toBe(false);
  expect(history.newest).toBe(three.id);
});

test("a step that is done again has its newest result", () => {
  const [first, again] = [result(1), result(1)];
  for (const order of [
    [first, again],
    [again, first],
  ])
    expect(historyOf(order).of("main").results).toEqual([again]);
});

test("a trainer that goes back to a checkpoint takes the later steps of its earlier life with it", () => {
  const old = [1, 2, 3, 4, 5].flatMap((s) => [result(s), released(s)]);
  const resumed = [mountRecord(2, {}), ...[3, 4].flatMap((s) => [result(s, 2), released(s, 2)])];
  for (const records of [
    [...old, ...resumed],
    [...resumed, ...old],
  ]) {
    const history = historyOf(records);
    expect(history.of("main").results.map((r) => [r.step, r.incarnation])).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
      [4, 2],
    ]);
    expect(history.waited).toEqual([1, 2, 3, 4]);
    expect(history.newestSteps(9)).toEqual([4, 3, 2, 1]);
  }
});

test("what the loss takes has the same name on the page as in verdicts and metrics", () => {
  expect(PAGE_COMBINED).toBe(COMBINED);
});

import { expect, test } from "vitest";
import { paceOf } from "../../../../src/observe/status/pace.js";

const every = (ms: number, steps: number) =>
  Array.from({ length: steps }, (_, i) => ({ step: i + 1, at: i * ms })).reverse();

test("a run in its stride keeps its pace until the next step is due", () => {
  const newest = every(600, 11);
  for (const now of [6_000, 6_300, 6_600]) expect(paceOf(newest, now)).toBe(100);
});

test("a run that stands still grows slower, however fast it was", () => {
  const newest = every(600, 11);
  expect(paceOf(newest, 6_600 + 6_000)).toBe(50);
  expect(paceOf(newest, 6_600 + 594_000)).toBe(1);
});

test("a step that several pipelines record counts once, at its first record", () => {
  const newest = every(600, 11).flatMap((r) => [{ ...r, at: r.at + 90 }, r]);
  expect(paceOf(newest, 6_000)).toBe(100);
});

test("one step, or a clock that stood still, has no pace", () => {
  expect([paceOf([], 5), paceOf(every(600, 1), 5), paceOf(every(0, 3), 5)]).toEqual([null, null, null]);
});

import { expect, test } from "vitest";
import { answerTo, drawTasks, END, grade, TASK_KINDS } from "../../../../src/commands/demo/tasks.js";
import { seededRng } from "../../../../src/scoring/batch/rng.js";

test("the three kinds answer by their rules", () => {
  expect(answerTo({ kind: "copy", length: 3, start: 2 })).toEqual([2, 2, 2]);
  expect(answerTo({ kind: "successor", length: 3, start: 2 })).toEqual([3, 0, 1]);
  expect(answerTo({ kind: "swap", length: 3, start: 2 })).toEqual([3, 2, 3]);
});

test("only the exact answer, ended in time, earns the reward", () => {
  const task = { kind: "successor", length: 2, start: 0 } as const;
  expect(grade(task, [1, 2, END])).toBe(1);
  expect(grade(task, [1, 2])).toBe(0);
  expect(grade(task, [1, 2, 3, END])).toBe(0);
  expect(grade(task, [2, 1, END])).toBe(0);
  expect(grade(task, [END])).toBe(0);
});

test("tasks are drawn from every kind and length, alike for equal keys", () => {
  const tasks = drawTasks(seededRng(1), 200);
  expect(new Set(tasks.map((t) => t.kind))).toEqual(new Set(TASK_KINDS));
  expect(new Set(tasks.map((t) => t.length))).toEqual(new Set([1, 2, 3]));
  expect(drawTasks(seededRng(1), 200)).toEqual(tasks);
});

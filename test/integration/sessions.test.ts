import type { Run } from "dataflex-mq";
import { describe, expect, test } from "vitest";
import { rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

/** A session may leave several rows of one outcome: the one with the highest index counts, whatever the order of rows. */
const system = useSystem({ workers: [{ slots: 1 }] });
const MEAN = {
  mechanism: "select",
  scorer: { name: "group_mean_reward" },
  actuator: { name: "threshold_band", params: { low: 0, high: 1 } },
} as const;
const STAGE = "post_reward";

const rows = (rewards: readonly number[], more: object = {}) => ({
  rm_scores: rewards.map((reward) => [reward]),
  response_mask: rewards.map(() => [1]),
  uid: rewards.map(() => "g"),
  ...more,
});

async function meanScore(run: Run, step: number): Promise<number | undefined> {
  return (await run.weights(step)).pipelines[0]!.score_stats?.mean;
}

describe("the row of a session that counts", () => {
  test("is the one with the highest index: in any order, in one put or in two", async () => {
    const run = await system.mount(MEAN);
    const stored = rows([0, 1, 0], { session: ["0", "0", "1"], session_index: [0, 1, 0] });
    const moved = rows([1, 0, 0], { session: ["0", "1", "0"], session_index: [1, 0, 0] });
    await run.put(1, STAGE, stored);
    await run.put(2, STAGE, moved);
    expect(await meanScore(run, 1)).toBe(0.5);
    expect(await meanScore(run, 2)).toBe(0.5);
    const halves = [
      rows([1, 0], { session: ["0", "1"], session_index: [1, 0] }),
      rows([0], { session: ["0"], session_index: [0] }),
    ];
    await run.put(4, STAGE, halves[0]!, { rows: [0, 2], total_rows: 3 });
    await run.put(4, STAGE, halves[1]!, { rows: [2, 3], total_rows: 3 });
    expect(await meanScore(run, 4)).toBe(0.5);
  });

  test("is the last one where rows have no index", async () => {
    const run = await system.mount(MEAN);
    await run.put(1, STAGE, rows([1, 1, 1, 0], { session: ["0", "0", "0", "1"] }));
    expect(await meanScore(run, 1)).toBe(0.5);
    await run.put(2, STAGE, rows([1, 0, 0], { session: ["0", "1", "0"] }));
    expect(await meanScore(run, 2)).toBe(0);
  });

  test("counts also where the mount named what the trainer has; rows without sessions each count", async () => {
    const run = await system.mount(MEAN, { provides: ["rm_scores", "response_mask", "uid"] });
    await run.put(1, STAGE, rows([1, 1, 1, 0], { session: ["0", "0", "0", "1"] }));
    await run.put(2, STAGE, rows([1, 1, 1, 0]));
    expect([await meanScore(run, 1), await meanScore(run, 2)]).toEqual([0.5, 0.75]);
  });

  test("a session that is missing does not hide behind one of two rows", async () => {
    const run = await system.mount(MEAN, { group_size: 4 });
    await run.put(1, STAGE, rows([1, 1, 1, 0], { session: ["0", "0", "1", "2"] }));
    expect(await rejection(run.weights(1))).toMatchObject({ code: "INCOMPLETE_GROUP", details: { have: 3, want: 4 } });
  });
});

describe("sessions that say nothing", () => {
  const bad: readonly [string, object][] = [
    ["no session was put", { session_index: [0, 1, 2] }],
    ["null in row 1", { session: ["0", null, "1"] }],
    ["no index in row 2", { session: ["0", "0", "1"], session_index: [0, 1, 0.5] }],
    ["no index in row 0", { session: ["0", "0", "1"], session_index: [-1, 1, 0] }],
    ["rows 0 and 2 both have index 1", { session: ["0", "1", "0"], session_index: [1, 1, 1] }],
    ['"session" has 2 rows', { session: ["0", "1"] }],
  ];
  test("are refused at the put", async () => {
    const run = await system.mount(MEAN);
    for (const [words, more] of bad) {
      const error = await rejection(run.put(1, STAGE, rows([1, 0, 0], more)));
      expect(error, words).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining(words) });
    }
    const { uid: _, ...alone } = rows([1, 0], { session: ["0", "1"] });
    expect(await rejection(run.put(1, STAGE, alone))).toMatchObject({ message: expect.stringContaining("with uid") });
  });

  test("padding rows may share an index", async () => {
    const run = await system.mount(MEAN);
    const padded = rows([1, 0, 0, 0], { session: ["0", "1", "p", "p"], session_index: [0, 0, 0, 0] });
    await run.put(1, STAGE, padded, { is_padding: [false, false, true, true] });
    expect((await run.weights(1)).pipelines[0]!.kept).toEqual(Int32Array.of(0, 1));
  });

  test("are a failure with their rows where only the puts together show it", async () => {
    const run = await system.mount(MEAN);
    const half = (start: number) => ({ rows: [start, start + 2] as const, total_rows: 4 });
    await run.put(1, STAGE, rows([1, 0], { session: ["0", "1"] }), half(0));
    await run.put(1, STAGE, rows([1, 0]), half(2));
    expect(await rejection(run.weights(1))).toMatchObject({
      code: "INVALID_INPUT",
      details: { rows: [2, 3], column: "session" },
    });
    await run.put(2, STAGE, rows([1, 0], { session: ["0", "1"], session_index: [0, 0] }), half(0));
    await run.put(2, STAGE, rows([1, 0], { session: ["0", "1"], session_index: [1, 0] }), half(2));
    expect(await rejection(run.weights(2))).toMatchObject({ code: "INVALID_INPUT", details: { first: 1, row: 3 } });
  });
});

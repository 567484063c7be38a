import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Kept } from "../../../../src/scoring/components/component-types.js";
import { defineSelector } from "../../../../src/scoring/components/define.js";
import { groupSolveRate } from "../../../../src/scoring/components/scorers/group-solve-rate.js";
import { thresholdBand } from "../../../../src/scoring/components/selectors/threshold-band.js";
import { fakeBatch, run } from "../../../../src/testing.js";

const keeping = (answer: (rows: number) => Kept) =>
  defineSelector({
    name: "keeping",
    accepts: "row",
    params: z.strictObject({}),
    act: (_s, batch) => answer(batch.rows),
  });
const batch = fakeBatch({ values: [[0], [0], [0]] }, { is_padding: [false, false, true] });
const options = (on_empty: "drop_all" | "keep_all" | "error") => ({ scores: [1, 2, 3], settings: { on_empty } });

it("turns kept rows into 0/1, each once, ascending, live ones only", async () => {
  const outcome = await run(
    keeping(() => [1, 0, 1, 2]),
    batch,
    {},
    options("error"),
  );
  expect([...outcome.weights.values]).toEqual([1, 1, 0]);
  expect([...outcome.kept!]).toEqual([0, 1]);
  expect(outcome.stats).toMatchObject({ n: 2, mean: 1, kept_ratio: 1 });
});

it("takes a 0/1 vector as well", async () => {
  const byVector = defineSelector({
    name: "by_vector",
    accepts: "row",
    params: z.strictObject({}),
    act: (scores) => scores.gt(1.5),
  });
  expect([...(await run(byVector, batch, {}, options("error"))).kept!]).toEqual([1]);
});

it.each([[[3]], [[-1]], [[0.5]], [[Number.NaN]]])("refuses the row numbers %j", async (rows) => {
  await expect(
    run(
      keeping(() => rows),
      batch,
      {},
      options("error"),
    ),
  ).rejects.toMatchObject({ code: "COMPONENT" });
});

describe("when nothing is kept", () => {
  const nothing = keeping(() => []);

  it("drop_all gives weight 0, flagged and warned about", async () => {
    const outcome = await run(nothing, batch, {}, options("drop_all"));
    expect([...outcome.weights.values]).toEqual([0, 0, 0]);
    expect(outcome).toMatchObject({ flags: ["empty_selection"], metrics: { kept_frac: 0 } });
    expect(outcome.warnings[0]).toContain("kept nothing");
    expect([...outcome.kept!]).toEqual([]);
  });

  it("keep_all keeps every live row, flagged", async () => {
    const outcome = await run(nothing, batch, {}, options("keep_all"));
    expect([...outcome.weights.values]).toEqual([1, 1, 0]);
    expect(outcome.flags).toEqual(["empty_selection"]);
  });

  it("error ends the step", async () => {
    await expect(run(nothing, batch, {}, options("error"))).rejects.toMatchObject({ code: "EMPTY_SELECTION" });
  });

  it("also where every group is solved: no crash, no silence", async () => {
    const solved = fakeBatch({ rm_scores: [[1], [1], [1], [1]], uid: ["a", "a", "b", "b"] });
    const outcome = await run([groupSolveRate, thresholdBand], solved);
    expect([...outcome.weights.values]).toEqual([0, 0, 0, 0]);
    expect(outcome.flags).toEqual(["empty_selection"]);
  });
});

describe("token selectors", () => {
  const tokens = fakeBatch({
    response_mask: [
      [1, 1],
      [1, 0],
      [1, 1],
    ],
  });
  const above = (threshold: number) =>
    defineSelector({
      name: "above",
      accepts: "token",
      params: z.strictObject({}),
      act: (scores) => scores.map((score) => Number(score > threshold)),
    });
  const scores = [[1, 2], [3], [0, 1]];

  it("keep tokens; a row is kept when any of its tokens is", async () => {
    const outcome = await run(above(1.5), tokens, {}, { scores });
    expect([...outcome.weights.values]).toEqual([0, 1, 1, 0, 0]);
    expect([...outcome.kept!]).toEqual([0, 1]);
    expect(outcome.stats).toMatchObject({ n: 5, kept_ratio: 2 / 3, zero_ratio: 0.6 });
  });

  it("may keep nothing", async () => {
    const outcome = await run(above(9), tokens, {}, { scores, settings: { on_empty: "keep_all" } });
    expect([...outcome.weights.values]).toEqual([1, 1, 1, 1, 1]);
  });

  it("must answer 0 or 1", async () => {
    const half = defineSelector({ name: "half", accepts: "token", params: z.strictObject({}), act: (s) => s.mul(0.5) });
    await expect(run(half, tokens, {}, { scores })).rejects.toMatchObject({
      code: "COMPONENT",
      details: { row: 0, column: 0 },
    });
  });
});

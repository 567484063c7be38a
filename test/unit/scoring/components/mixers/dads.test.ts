import { describe, expect, test } from "vitest";
import { dads, movingAverages } from "../../../../../src/scoring/components/mixers/dads.js";
import { mixHistory, runMixer } from "../../../../../src/testing.js";
import { expectShares } from "./close.js";

describe("dads", () => {
  test("averages .4 .7 meet means .6 .9", () => {
    const averages = movingAverages([0.4, 0.7], [0.6, 0.9], 0.5) as number[];
    expectShares(averages, [0.5, 0.8]);
  });

  test("temperature .3 and .8", () => {
    const history = mixHistory([
      [0.4, 0.7],
      [0.6, 0.9],
    ]);
    expectShares(runMixer(dads, history), [0.73105858, 0.26894142]);
    expectShares(runMixer(dads, history, { temperature: 0.8 }), [0.5926666, 0.4073334]);
  });

  test("a first mean is taken as it is, an average of 0 is an average", () => {
    expect(movingAverages([undefined, 0], [0.6, 1], 0.5)).toEqual([0.6, 0.5]);
  });

  test("a domain without rows keeps its average", () => {
    const history = mixHistory([
      [0.4, 0.7],
      [0.6, 0.9],
      [null, null],
      [0.5, null],
    ]);
    expectShares(runMixer(dads, history), [0.73105858, 0.26894142]);
  });

  test("a domain above the target asks for nothing more than one at it", () => {
    expectShares(runMixer(dads, mixHistory([[1, 3]])), [0.5, 0.5]);
  });

  test("one update holds update_step steps", () => {
    const each = mixHistory(
      [
        [0, 1],
        [1, 1],
        [0, 1],
        [0, 1],
      ],
      { update_step: 2 },
    );
    const updates = mixHistory([
      [0.5, 1],
      [0, 1],
    ]);
    expectShares(runMixer(dads, each), runMixer(dads, updates));
  });
});

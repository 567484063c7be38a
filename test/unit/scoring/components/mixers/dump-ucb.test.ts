import { describe, expect, test } from "vitest";
import { dumpUcb } from "../../../../../src/scoring/components/mixers/dump-ucb.js";
import { DomainSeries } from "../../../../../src/scoring/mix/series.js";
import { uniform } from "../../../../../src/scoring/mix/simplex.js";
import { mixHistory, runMixer } from "../../../../../src/testing.js";
import { expectShares } from "./close.js";

/** Mean |A| .9 .5 .1 over 100, 50 and 10 rows. */
function visited(): DomainSeries {
  const counts = [100, 50, 10];
  const sums = [0.9, 0.5, 0.1].map((value, d) => value * counts[d]!);
  const steps = [{ step: 1, trigger: 0, sums, counts }];
  const domains = ["a", "b", "c"];
  return new DomainSeries({ domains, prior: uniform(3), steps, window: 50, warmup_step: 0, update_step: 1 });
}

describe("dump_ucb", () => {
  test("temperature 1", () => {
    expectShares(runMixer(dumpUcb, visited(), { floor: 0 }), [0.3819265, 0.29131822, 0.32675528]);
  });

  test("temperature .1, without and with the floor", () => {
    expectShares(runMixer(dumpUcb, visited(), { temperature: 0.1, floor: 0 }), [0.78323064, 0.05221175, 0.16455761]);
    const [a, b, c] = runMixer(dumpUcb, visited(), { temperature: 0.1 });
    expect(a).toBeCloseTo(0.715746, 6);
    expect(b).toBeCloseTo(0.09438, 6);
    expect(c).toBeCloseTo(0.189874, 6);
  });

  test("without the bonus the most moving domain wins", () => {
    expectShares(runMixer(dumpUcb, visited(), { c: 0, floor: 0 }), [0.47177622, 0.31624106, 0.21198272]);
  });

  test("visits count since the beginning, values only in the window", () => {
    const history = mixHistory(
      [
        [9, 9],
        [1, 1],
        [1, null],
      ],
      { window: 1 },
    );
    const bonus = (n: number) => Math.sqrt((2 * Math.log(6)) / (n + 1));
    const difference = bonus(2) - bonus(3);
    const code = 1 / (1 + Math.exp(-difference));
    expectShares(runMixer(dumpUcb, history, { floor: 0 }), [1 - code, code]);
  });
});

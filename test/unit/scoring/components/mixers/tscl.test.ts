import { describe, expect, test } from "vitest";
import { tscl } from "../../../../../src/scoring/components/mixers/tscl.js";
import { mixHistory, runMixer } from "../../../../../src/testing.js";
import { expectShares } from "./close.js";

/** Slopes .1, −.07 and 0. */
const SLOPES = mixHistory(
  [0, 1, 2, 3].map((x) => [0.1 * x, 1 - 0.07 * x, 0.5]),
  {},
);

describe("tscl", () => {
  test.each([
    [{ floor: 0 }, [0.34779186, 0.33751306, 0.31469509]],
    [{ floor: 0, temperature: 0.05 }, [0.59377242, 0.32586922, 0.08035836]],
    [{ floor: 0, temperature: 0.05, signed: true }, [0.78698604, 0.10650698, 0.10650698]],
  ])("slopes .1 -.07 0 with %j", (params, shares) => {
    expectShares(runMixer(tscl, SLOPES, params), shares);
  });

  test("sees slopes, not levels: the domain that improves wins over the one that is solved", () => {
    const history = mixHistory([
      [0.1, 0.9],
      [0.2, 0.9],
      [0.3, 0.9],
      [0.4, 0.9],
    ]);
    const [math] = runMixer(tscl, history, { temperature: 0.1, floor: 0 });
    expect(math).toBeCloseTo(0.731, 3);
  });

  test("a domain with rows in one step only has the cold slope", () => {
    const history = mixHistory([
      [0.1, null],
      [0.2, 0.5],
    ]);
    expectShares(runMixer(tscl, history, { floor: 0, temperature: 0.1 }), [0.73105858, 0.26894142]);
    expectShares(runMixer(tscl, history, { floor: 0, temperature: 0.1, cold_slope: 0.1 }), [0.5, 0.5]);
  });

  test("the order of rows within a step has no say", () => {
    const twice = mixHistory(
      [
        [0.1, 0.9],
        [0.4, 0.9],
      ],
      { rows: 7 },
    );
    expectShares(
      runMixer(tscl, twice),
      runMixer(
        tscl,
        mixHistory([
          [0.1, 0.9],
          [0.4, 0.9],
        ]),
      ),
    );
  });
});

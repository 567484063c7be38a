import { describe, test } from "vitest";
import { doremi, doremiUpdate } from "../../../../../src/scoring/components/mixers/doremi.js";
import { uniform } from "../../../../../src/scoring/mix/simplex.js";
import { mixHistory, runMixer } from "../../../../../src/testing.js";
import { expectShares } from "./close.js";

const FIRST = [0.45050941, 0.30209538, 0.2473952];
const SECOND = [0.57090685, 0.25680184, 0.17229131];

describe("doremi", () => {
  test("lambda .6 .2 0, twice", () => {
    const first = doremiUpdate(uniform(3), [0.6, 0.2, 0], 1, 1e-3);
    expectShares(first, FIRST);
    expectShares(doremiUpdate(first, [0.6, 0.2, 0], 1, 1e-3), SECOND);
  });

  test("the excess is the gap to the best mean", () => {
    expectShares(runMixer(doremi, mixHistory([[0.2, 0.6, 0.8]])), FIRST);
    expectShares(
      runMixer(
        doremi,
        mixHistory([
          [0.2, 0.6, 0.8],
          [0.2, 0.6, 0.8],
        ]),
      ),
      SECOND,
    );
  });

  test("a domain without rows keeps its last excess", () => {
    expectShares(
      runMixer(
        doremi,
        mixHistory([
          [0.2, 0.6, 0.8],
          [null, 0.6, 0.8],
        ]),
      ),
      SECOND,
    );
  });

  test("the running average", () => {
    const average = FIRST.map((share, d) => (share + SECOND[d]!) / 2);
    expectShares(
      runMixer(
        doremi,
        mixHistory([
          [0.2, 0.6, 0.8],
          [0.2, 0.6, 0.8],
        ]),
        { average: true },
      ),
      average,
    );
  });

  test("starts from the prior; a huge excess overflows nothing", () => {
    expectShares(runMixer(doremi, mixHistory([[1, 1]], { prior: [0.7, 0.3] }), { smoothing: 0 }), [0.7, 0.3]);
    expectShares(runMixer(doremi, mixHistory([[1e9, 0]])), [0.0005, 0.9995]);
  });
});

import { describe, expect, test } from "vitest";
import { DomainSeries } from "../../../../src/scoring/mix/series.js";
import { mixHistory } from "../../../../src/testing/mix-history.js";

describe("means", () => {
  test("over rows, not over steps: a step with more rows counts more", () => {
    const steps = [
      { step: 1, trigger: 0, sums: [1], counts: [1] },
      { step: 2, trigger: 0, sums: [0], counts: [3] },
    ];
    const series = new DomainSeries({ domains: ["a"], prior: [1], steps, window: 50, warmup_step: 0, update_step: 1 });
    expect(series.means()).toEqual([0.25]);
  });

  test("the window counts steps in which the domain had rows", () => {
    const series = mixHistory(
      [
        [1, 1],
        [0.5, null],
        [0, 0],
        [null, 0.6],
      ],
      { window: 2 },
    );
    expect(series.means()).toEqual([0.25, 0.3]);
  });

  test("a domain without rows has none", () => {
    expect(mixHistory([[1, null]]).means(-1)).toEqual([1, -1]);
    expect(mixHistory([[1, null]]).counts()).toEqual([1, 0]);
  });
});

describe("slopes", () => {
  test.each([
    [[0.1, 0.2, 0.3, 0.4, 0.5], undefined, 0.1],
    [[0.5, 0.5, 0.4, 0.3], undefined, -0.07],
    [[0.4, 0.4, 0.4], undefined, 0],
    [[0.1, 0.2, 0.5], [10, 12, 20], 0.03928571],
  ])("of %j at %j", (means, steps, slope) => {
    const series = mixHistory(
      means.map((mean) => [mean]),
      steps === undefined ? {} : { steps },
    );
    expect(series.slopes()[0]).toBeCloseTo(slope, 8);
  });

  test("fewer than two steps have none", () => {
    expect(mixHistory([[0.3]]).slopes(1)).toEqual([1]);
    expect(mixHistory([]).slopes()).toEqual([]);
  });

  test("two triggers of one step are one point in time", () => {
    const steps = [0, 1].map((trigger) => ({ step: 5, trigger, sums: [trigger], counts: [1] }));
    const series = new DomainSeries({ domains: ["a"], prior: [1], steps, window: 9, warmup_step: 0, update_step: 1 });
    expect(series.slopes(7)).toEqual([7]);
  });
});

test("staleness counts the steps since a domain had rows", () => {
  expect(
    mixHistory([
      [1, 1, null],
      [1, null, null],
      [1, null, null],
    ]).staleness(),
  ).toEqual([0, 2, 3]);
});

describe("fold", () => {
  const updates = (series: DomainSeries) =>
    series.fold<readonly (number | undefined)[]>([], (all, { means }) => [...all, means[0]]);

  test("one update a step by default", () => {
    expect(updates(mixHistory([[0.1], [0.2], [0.3]]))).toEqual([0.1, 0.2, 0.3]);
  });

  test("an update holds update_step steps, and one ends at warmup_step", () => {
    const series = mixHistory([[1], [2], [3], [4], [5], [6], [7]], { warmup_step: 3, update_step: 2 });
    expect(updates(series)).toEqual([1, 2.5, 4.5, 6.5]);
  });

  test("steps without rows are left out", () => {
    expect(updates(mixHistory([[null], [0.5]]))).toEqual([0.5]);
  });
});

test("a part of the domains keeps its shares of the prior", () => {
  const part = mixHistory([[1, 2, 3]], { prior: [0.5, 0.3, 0.2] }).of([0, 2]);
  expect(part.domains).toEqual(["d0", "d2"]);
  expect(part.prior[0]).toBeCloseTo(5 / 7);
  expect(part.means()).toEqual([1, 3]);
});

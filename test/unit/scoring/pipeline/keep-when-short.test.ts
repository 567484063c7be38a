import { describe, expect, it } from "vitest";
import { adarft } from "../../../../src/scoring/components/policies/adarft.js";
import { greso } from "../../../../src/scoring/components/policies/greso.js";
import { dapoFilter } from "../../../../src/scoring/components/selectors/dapo-filter.js";
import { gfpo } from "../../../../src/scoring/components/selectors/gfpo.js";
import { thresholdBand } from "../../../../src/scoring/components/selectors/threshold-band.js";
import { tvGate } from "../../../../src/scoring/components/selectors/tv-gate.js";
import { keepWhenShort } from "../../../../src/scoring/pipeline/keep-when-short.js";
import { runPolicy } from "../../../../src/testing/run-policy.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { tokensOf } from "../../../helpers/act.js";

const rows = (n: number) => Array.from({ length: n }, () => [1]);

describe("rows by themselves", () => {
  const act = async (keep_when_short: number | undefined, scores = [0.9, 2, 0.5, 2, 2, 2]) =>
    run(
      thresholdBand,
      fakeBatch({ response_mask: rows(scores.length) }),
      {},
      { scores, settings: { keep_when_short } as object },
    );

  it("changes nothing where enough is kept", async () => {
    const { kept, metrics } = await act(2);
    expect([...kept!]).toEqual([0, 2]);
    expect(metrics.rows_kept_when_short).toBe(0);
  });

  it("lets the last of what was rejected stay", async () => {
    const { kept, weights, metrics } = await act(4);
    expect([...kept!]).toEqual([0, 2, 4, 5]);
    expect([...weights.values]).toEqual([1, 0, 1, 0, 1, 1]);
    expect(metrics).toMatchObject({ rows_kept_when_short: 2, kept_frac: 4 / 6 });
  });

  it("keeps every row of a step that is smaller than the floor, and leaves on_empty nothing to decide", async () => {
    expect([...(await act(100)).kept!]).toEqual([0, 1, 2, 3, 4, 5]);
    const none = await act(1, [2, 2]);
    expect([...none.kept!]).toEqual([1]);
    expect(none.flags).toEqual([]);
  });

  it("counts only rows that are live", async () => {
    const batch = fakeBatch({ response_mask: rows(3) }, { is_padding: [false, false, true] });
    const settings = { keep_when_short: 2 };
    expect([...(await run(thresholdBand, batch, {}, { scores: [2, 2, 2], settings })).kept!]).toEqual([0, 1]);
  });
});

describe("groups", () => {
  const uid = ["a", "b", "a", "c", "c", "b"];

  it("come back whole, the last to appear first", async () => {
    const batch = fakeBatch({ response_mask: rows(6), uid });
    const act = async (keep_when_short: number) => [
      ...(await run(dapoFilter, batch, {}, { scores: [1, 0, 0, 1, 1, 0], settings: { keep_when_short } })).kept!,
    ];
    expect(await act(2)).toEqual([0, 2]);
    expect(await act(3)).toEqual([0, 2, 3, 4]);
    expect(await act(5)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("of which a part was kept get the rest back", async () => {
    const batch = fakeBatch({ response_mask: rows(6), uid });
    const scores = [1, 0, 0, 1, 0, 1];
    const { kept } = await run(gfpo, batch, { k: 1 }, { scores, settings: { keep_when_short: 4 } });
    expect([...kept!]).toEqual([0, 3, 4, 5]);
  });
});

it("gives a row back with every token where tokens are judged", async () => {
  const batch = fakeBatch({
    response_mask: [
      [1, 1],
      [1, 1],
      [1, 1],
    ],
  });
  const scores = [
    [0.05, 0.9],
    [0.9, 0.9],
    [0.9, 0.9],
  ];
  const outcome = await run(tvGate, batch, {}, { scores, settings: { keep_when_short: 2 } });
  expect(tokensOf(outcome)).toEqual([
    [1, 0],
    [0, 0],
    [1, 1],
  ]);
  expect([...outcome.kept!]).toEqual([0, 2]);
});

it("is a floor for prompts too, with a policy's weights", async () => {
  const candidates = { dataset_key: ["a", "b", "c"], difficulty: [0, 50, 100] };
  const settings = { keep_when_short: 2 };
  expect([...(await runPolicy(adarft, [], candidates, { batch_size: 1 }, { settings })).kept]).toEqual([0, 2]);
  expect([...(await runPolicy(greso, [], { dataset_key: ["a"] }, {}, { settings })).kept]).toEqual([0]);
});

it("does not depend on the order of the units", () => {
  const units = [
    [4, 5],
    [0, 1],
    [2, 3],
  ];
  expect([...keepWhenShort(3, Int32Array.of(0), units)]).toEqual([0, 4, 5]);
});

import { describe, expect, test } from "vitest";
import type { PipelineResult } from "../../../src/client/outcomes.js";
import { StepResult } from "../../../src/client/step-result.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import type { MaskColumn, Weights } from "../../../src/columns/tensor.js";
import type { Handle } from "../../../src/protocol/messages.js";
import type { Composition } from "../../../src/protocol/pipeline-spec.js";
import type { Stage } from "../../../src/protocol/stages.js";

const lengths = (...n: number[]): MaskColumn => {
  return { kind: "lengths", dtype: "u8", scope: "response", rows: n.length, width: 3, lengths: Int32Array.from(n) };
};
interface Part {
  readonly compact: Weights | undefined;
  readonly mask?: MaskColumn;
  readonly stage?: Stage;
  readonly dropped?: readonly number[];
  readonly padding?: readonly number[];
}

function resultOf(composition: Composition, ...parts: readonly Part[]): StepResult {
  const handle = { composition, limits: DEFAULT_LIMITS } as Handle;
  const results = parts.map(
    ({ dropped, padding, ...part }, i) =>
      ({
        name: `p${i}`,
        stage: "post_advantage",
        mask: lengths(3, 2, 1),
        dropped: dropped && Int32Array.from(dropped),
        padding,
        ...part,
      }) as unknown as PipelineResult,
  );
  return new StepResult(handle, { step: 1, trigger: 0, waitedMs: 0 }, results);
}
const rows = (...values: number[]): Weights => ({ kind: "row", values: Float32Array.from(values) });
const tokens = (...values: number[]): Weights => {
  return { kind: "token", offsets: Int32Array.of(0, 3, 5, 6), values: Float32Array.from(values) };
};
const plain = { combine: "multiply", rescale: "none" } as const;
const dense = (...n: number[]) => n.map((count) => [0, 1, 2].map((t) => (t < count ? 1 : 0)));

describe("rows that a pipeline dropped", () => {
  test("are live to no rescale, whichever pipeline dropped them", () => {
    const parts = [{ compact: rows(1, 0, 0), dropped: [1] }, { compact: rows(1, 1, 1) }];
    for (const both of [parts, parts.toReversed()]) {
      expect([...resultOf({ ...plain, rescale: "row" }, ...both).combined.weights]).toEqual([2, 0, 0]);
      const byToken = resultOf({ ...plain, rescale: "token" }, ...both).combined;
      expect([...byToken.weights]).toEqual([Math.fround(4 / 3), 0, 0]);
    }
  });

  test("may have tokens in the loss's mask that nobody scored: they weigh 0", () => {
    const result = resultOf(plain, { compact: tokens(1, 2, 3, 0, 0, 6), dropped: [1] });
    expect([...result.rolloutIsWeights(dense(3, 3, 1))]).toEqual([1, 2, 3, 0, 0, 0, 6, 0, 0]);
    expect(() => result.rolloutIsWeights(dense(3, 2, 2))).toThrow(/row 2, column 1/);
  });

  test("a row fully masked when it was scored may come back only where it was dropped", () => {
    const before = lengths(3, 0, 1);
    const dropped = resultOf(plain, { compact: rows(1, 0, 1), mask: before, dropped: [1] });
    expect([...dropped.rolloutIsWeights(dense(1, 1, 1))]).toEqual([1, 0, 0, 0, 0, 0, 1, 0, 0]);
    const scored = resultOf(plain, { compact: rows(1, 0, 1), mask: before });
    expect(() => scored.rolloutIsWeights(dense(1, 1, 1))).toThrow(/row 1, column 0/);
  });

  test("of an earlier stage with another mask are 0 in the later one's tokens", () => {
    const early = { compact: tokens(1, 1, 1, 0, 0, 1), dropped: [1], stage: "post_reward" } as const;
    const late = {
      compact: { ...tokens(1, 2, 3, 4, 5, 6), offsets: Int32Array.of(0, 2, 5, 6) },
      mask: lengths(2, 3, 1),
    };
    expect([...resultOf(plain, early, late).combined.weights]).toEqual([1, 2, 0, 0, 0, 0, 6, 0, 0]);
  });

  test("padding of one pipeline is padding to all", () => {
    const parts = [{ compact: rows(1, 1, 0), padding: [0, 0, 1] }, { compact: rows(3, 1, 0) }];
    expect([...resultOf({ ...plain, rescale: "row" }, ...parts.toReversed()).combined.weights]).toEqual([1.5, 0.5, 0]);
  });
});

describe("statistics", () => {
  test("of the product and of what came out, over live rows", () => {
    const result = resultOf(
      { ...plain, clip: [0.5, 2], rescale: "row" },
      { compact: rows(4, 0.25, 0) },
      { compact: rows(1, 1, 1) },
    );
    const { level, stats, product, clipped } = result.statistics!;
    expect({ level, clipped }).toEqual({ level: "sample", clipped: { low: 1 / 3, high: 1 / 3 } });
    expect(product).toMatchObject({ n: 3, max: 4, kept_ratio: 2 / 3, zero_ratio: 1 / 3 });
    expect(product!.mean).toBeCloseTo(4.25 / 3, 12);
    expect(stats).toMatchObject({ n: 3, kept_ratio: 2 / 3 });
    expect(stats.mean).toBeCloseTo(1, 6);
    expect(stats.max).toBeCloseTo((2 * 3) / 2.5, 6);
  });

  test("of tokens follow the loss's mask once it is known; the product stays what scoring made", () => {
    const result = resultOf(plain, { compact: tokens(1, 2, 3, 4, 5, 6) });
    expect(result.statistics).toMatchObject({
      level: "token",
      stats: { n: 6, mean: 3.5 },
      product: { n: 6, mean: 3.5 },
    });
    result.rolloutIsWeights(dense(1, 1, 0));
    expect(result.statistics).toMatchObject({ stats: { n: 2, mean: 2.5 }, product: { n: 6, mean: 3.5 } });
  });

  test("leave dropped rows out, and are absent where nothing weighs the loss", () => {
    const result = resultOf(plain, { compact: rows(1, 0, 1), dropped: [1] });
    expect(result.statistics).toMatchObject({ stats: { n: 2, kept_ratio: 1 }, product: { n: 2 } });
    expect(resultOf(plain).statistics).toBeUndefined();
    expect(resultOf(plain, { compact: rows(1, 1, 1), stage: "pre_rollout" }).statistics).toBeUndefined();
    expect(resultOf(plain, { compact: rows(0, 0, 0), dropped: [0, 1, 2] }).statistics).toBeUndefined();
  });
});

describe("weights as arrays", () => {
  test("are made on first use, and once", () => {
    const result = resultOf(plain, { compact: tokens(1, 2, 3, 4, 5, 6) });
    const [pipeline] = result.pipelines;
    expect(pipeline!.shape).toEqual([3, 3]);
    expect([...pipeline!.weights]).toEqual([1, 2, 3, 4, 5, 0, 6, 0, 0]);
    expect(pipeline!.weights).toBe(pipeline!.weights);
    expect(result.combined).toBe(result.combined);
  });

  test("reading a composition anew does not compose again; the listener gets those of the loss only", () => {
    const heard: unknown[] = [];
    const handle = { composition: plain, limits: DEFAULT_LIMITS } as Handle;
    const { pipelines } = resultOf(plain, { compact: rows(1, 2, 3) });
    const result = new StepResult(handle, { step: 1, trigger: 0, waitedMs: 0 }, pipelines, undefined, (composed) =>
      heard.push(composed),
    );
    expect([...result.combined.weights]).toEqual([1, 2, 3]);
    expect(result.statistics).toMatchObject({ stats: { n: 3, mean: 2 } });
    expect(heard).toEqual([]);
    result.rolloutIsWeights(dense(3, 2, 1));
    result.rolloutIsWeights(dense(3, 2, 1));
    expect(heard).toHaveLength(2);
    expect(heard[0]).toBe(heard[1]);
  });
});

test("weights without their mask are refused, never taken for nothing that weighs", () => {
  const result = resultOf(plain, { compact: rows(1, 0, 2), mask: undefined as unknown as MaskColumn });
  expect(() => result.rolloutIsWeights(dense(3, 2, 1))).toThrow(/"p0" came without their mask/);
  expect(() => result.combined).toThrow(/"p0" came without their mask/);
  const mixed = resultOf(
    plain,
    { compact: rows(1, 0, 2), mask: undefined as unknown as MaskColumn },
    { compact: rows(1, 1, 1) },
  );
  expect(() => mixed.rolloutIsWeights(dense(3, 2, 1))).toThrow(/"p0" came without their mask/);
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBatch } from "../../../../src/scoring/batch/batch.js";
import { quantileOf } from "../../../../src/scoring/batch/order.js";
import { fakeBatch } from "../../../../src/testing.js";

const nan = Number.NaN;
const batch = fakeBatch(
  {
    entropy: [
      [1, nan, 3],
      [4, 5, nan],
      [6, 7, 8],
    ],
    response_mask: [
      [1, 0, 1],
      [1, 1, 0],
      [1, 1, 1],
    ],
  },
  { encode: "dense", is_padding: [false, false, true] },
);

describe("tokens as plain numbers", () => {
  it("come row after row; padding has none", () => {
    expect([...batch.field("entropy").toArray()]).toEqual([1, 3, 4, 5]);
    expect([...batch.tokenStarts]).toEqual([0, 2, 4, 4]);
    expect([...batch.tokenColumns()]).toEqual([0, 2, 0, 1]);
  });

  it("are 0 where a row was dropped", () => {
    expect([...batch.without([0]).field("entropy").toArray()]).toEqual([0, 0, 4, 5]);
  });

  it("go back into a field", () => {
    const doubled = batch.tokens(
      batch
        .field("entropy")
        .toArray()
        .map((value) => 2 * value),
    );
    expect([...doubled.sum().values]).toEqual([8, 18, 0]);
    expect(() => batch.tokens(new Float64Array(3))).toThrow(/4 unmasked tokens, got 3/);
  });

  it("have a quantile over live rows' unmasked tokens only", () => {
    expect(batch.field("entropy").quantile(0.5)).toBe(3.5);
    expect(batch.without([0, 1]).field("entropy").quantile(0.5)).toBe(0);
  });
});

describe("response length", () => {
  const mask = { kind: "runs", dtype: "bool", scope: "response", rows: 2, width: 6 } as const;
  const runs = { ...mask, offsets: Int32Array.of(0, 2, 3), bounds: Int32Array.of(0, 1, 2, 3, 0, 2) };
  const columns = new Map([["response_mask", runs] as const]);

  it("counts tool tokens where lengths are known", () => {
    const known = createBatch({ layout: { rows: 2, width: 6 }, columns, lengths: Int32Array.of(5, 2) });
    expect([...known.responseLength().values]).toEqual([5, 2]);
  });

  it("ends at the last unmasked token where they are not", () => {
    expect([...createBatch({ layout: { rows: 2, width: 6 }, columns }).responseLength().values]).toEqual([3, 2]);
  });
});

it("selects quantiles as sorting would", () => {
  const value = fc.oneof(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.constantFrom(-1, 0, 1));
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 60 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (values, q) => {
        const sorted = Float64Array.from(values).sort();
        const h = q * (sorted.length - 1);
        const [low, high, g] = [sorted[Math.floor(h)]!, sorted[Math.ceil(h)]!, h - Math.floor(h)];
        const want = g < 0.5 ? low + g * (high - low) : high - (1 - g) * (high - low);
        expect(quantileOf(Float64Array.from(values), q) - want).toBe(0);
      },
    ),
  );
});

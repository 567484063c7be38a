import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DataflexError } from "../../../../src/errors.js";
import { allocate } from "../../../../src/scoring/mix/allocate.js";

describe("largest remainder", () => {
  test.each([
    [[0.5, 0.3, 0.2], 7, [4, 2, 1]],
    [[1 / 3, 1 / 3, 1 / 3], 64, [22, 21, 21]],
    [[0.21198272, 0.31624106, 0.47177622], 64, [14, 20, 30]],
    [[2, 1, 1], 8, [4, 2, 2]],
    [[1, 0], 5, [5, 0]],
    [[0.5, 0.5], 0, [0, 0]],
  ])("%j of %i", (proportions, size, counts) => {
    expect(allocate(proportions, size).counts).toEqual(counts);
  });

  test("fractions carried over give a small domain its share over time", () => {
    const given = [0, 0];
    let carry: readonly number[] = [0, 0];
    for (let step = 0; step < 100; step++) {
      const next = allocate([0.97, 0.03], 10, carry);
      next.counts.forEach((n, d) => {
        given[d]! += n;
      });
      carry = next.carry;
    }
    expect(given).toEqual([970, 30]);
  });

  test("a domain that got too much while its share was large pays it back", () => {
    const first = allocate([0.5, 0.5], 1);
    expect(first).toEqual({ counts: [1, 0], carry: [-0.5, 0.5] });
    expect(allocate([0.1, 0.9], 1, first.carry).counts).toEqual([0, 1]);
    expect(allocate([0.5, 0.5], 2, [-3, 3]).counts).toEqual([0, 2]);
  });

  test("counts are whole, never negative, and sum to the batch; carries stay bounded", () => {
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(
        fc.array(
          shares.filter((p) => p.some((x) => x > 1e-3)),
          { minLength: 1, maxLength: 20 },
        ),
        fc.nat(500),
        (steps, size) => {
          const domains = steps[0]!.length;
          let carry: readonly number[] | undefined;
          for (const p of steps.filter((s) => s.length === domains)) {
            const next = allocate(p, size, carry);
            expect(next.counts.reduce((a, b) => a + b, 0)).toBe(size);
            for (const n of next.counts) expect(Number.isInteger(n) && n >= 0).toBe(true);
            carry = next.carry;
            expect(Math.abs(carry.reduce((a, b) => a + b, 0))).toBeLessThan(1e-6);
          }
        },
      ),
    );
  });

  test.each([
    [() => allocate([0.5, -0.1], 4), /proportion 1 is -0.1/],
    [() => allocate([0, 0], 4), /above 0/],
    [() => allocate([], 4), /above 0/],
    [() => allocate([1], 1.5), /batch size is 1.5/],
    [() => allocate([1, 1], 4, [0]), /1 entries for 2/],
    [() => allocate([1, 1], 4, [0, Number.NaN]), /carry 1 is NaN/],
  ])("refuses what makes no sense (%#)", (call, message) => {
    expect(call).toThrow(DataflexError);
    expect(call).toThrow(message);
  });
});

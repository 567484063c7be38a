import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkRanges, countRows, isComplete, rangesOf, rowsIn, toBitmap } from "../../../src/columns/row-ranges.js";
import { thrown } from "./thrown.js";

const rowSet = fc
  .record({ total: fc.integer({ min: 0, max: 80 }), picks: fc.array(fc.nat({ max: 79 })) })
  .map(({ total, picks }) => ({ total, rows: [...new Set(picks)].filter((r) => r < total).sort((a, b) => a - b) }));

describe("row ranges", () => {
  it("are the rows, as few ranges as possible", () => {
    expect(rangesOf([0, 1, 2, 5, 7, 8])).toEqual([0, 3, 5, 6, 7, 9]);
    expect(rangesOf([])).toEqual([]);
    fc.assert(
      fc.property(rowSet, ({ rows, total }) => {
        const ranges = rangesOf(rows);
        checkRanges(ranges, total);
        expect([...rowsIn(ranges)]).toEqual(rows);
        expect(countRows(ranges)).toBe(rows.length);
      }),
    );
  });

  it.each([[[1, 1]], [[2, 1]], [[-1]], [[0.5]], [[Number.NaN]]])("of %j are refused", (rows) => {
    expect(thrown(() => rangesOf(rows)).code).toBe("INVALID_INPUT");
  });

  it.each([[[0, 0]], [[2, 1]], [[0, 2, 2, 3]], [[0, 2, 1, 3]], [[-1, 2]], [[0, 9]], [[0]], [[0, 1.5]]])(
    "%j of 8 rows are refused",
    (ranges) => {
      expect(thrown(() => checkRanges(ranges, 8)).code).toBe("INVALID_INPUT");
    },
  );
});

describe("bitmaps", () => {
  it("count bits from the top of each byte, as Redis does", () => {
    expect([...toBitmap([0, 1, 9, 11], 12)]).toEqual([0x80, 0x60]);
  });

  it("are complete when every row is set, in either order of puts, and never earlier", () => {
    fc.assert(
      fc.property(rowSet, ({ rows, total }) => {
        const bitmap = toBitmap(rangesOf(rows), total);
        expect(isComplete(bitmap, total)).toBe(rows.length === total);
        const others = Array.from({ length: total }, (_, r) => r).filter((r) => !rows.includes(r));
        toBitmap(rangesOf(others), total).forEach((byte, i) => {
          bitmap[i] = bitmap[i]! | byte;
        });
        expect(isComplete(bitmap, total)).toBe(true);
      }),
    );
  });

  it("shorter than the rows are incomplete", () => {
    expect(isComplete(Uint8Array.of(0xff), 9)).toBe(false);
    expect(isComplete(Uint8Array.of(0xff, 0x80), 9)).toBe(true);
    expect(isComplete(new Uint8Array(0), 0)).toBe(true);
  });
});

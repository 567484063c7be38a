import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkRanges,
  countRows,
  fromBitmap,
  rangesOf,
  ranksWithin,
  rowsIn,
  toBitmap,
} from "../../../src/columns/row-ranges.js";
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
        expect(fromBitmap(bitmap, total)).toEqual(rangesOf(rows));
      }),
    );
  });

  it("have ranks among the rows of a larger set, and no others do", () => {
    fc.assert(
      fc.property(rowSet, fc.infiniteStream(fc.boolean()), ({ rows }, coins) => {
        const some = rows.filter(() => coins.next().value);
        const ranks = ranksWithin(rangesOf(some), rangesOf(rows));
        expect([...rowsIn(ranks)]).toEqual(some.map((row) => rows.indexOf(row)));
        expect(ranks).toEqual(rangesOf(rowsIn(ranks)));
      }),
    );
    for (const row of [0, 3, 9])
      expect(thrown(() => ranksWithin([row, row + 1], [1, 3, 5, 9]))).toMatchObject({ code: "INVALID_INPUT" });
  });
});

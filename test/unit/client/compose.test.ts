import { describe, expect, test } from "vitest";
import { compose } from "../../../src/client/compose.js";
import { prefixSpans } from "../../../src/columns/spans.js";
import type { Weights } from "../../../src/columns/tensor.js";

const mask = prefixSpans(Int32Array.of(2, 1), 2);
const rows = (...values: number[]): Weights => ({ kind: "row", values: Float32Array.from(values) });
const tokens = (...values: number[]): Weights => ({
  kind: "token",
  offsets: Int32Array.of(0, 2, 3),
  values: Float32Array.from(values),
});

describe("a product beyond float32", () => {
  test.each([
    ["row weights", [rows(1, 1e20), rows(1, 1e20)]],
    ["token weights", [tokens(1, 1, 1e20), rows(1, 1e20)]],
  ])("%s are refused with the row, never infinite", (_, all) => {
    expect(() => compose(all, mask, mask, { combine: "multiply", rescale: "none" })).toThrow(
      expect.objectContaining({ code: "NON_FINITE", message: expect.stringContaining("row 1 is Infinity") }),
    );
  });

  test("clip brings them back", () => {
    const { weights: clipped } = compose([rows(1, 1e20), rows(1, 1e20)], mask, mask, {
      combine: "multiply",
      clip: [0, 5],
      rescale: "none",
    });
    expect([...clipped.values]).toEqual([1, 5]);
  });
});

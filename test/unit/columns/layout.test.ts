import { describe, expect, it } from "vitest";
import { toFieldValue } from "../../../src/columns/input.js";
import { layoutOf } from "../../../src/columns/layout.js";
import type { FieldValue } from "../../../src/columns/tensor.js";
import { thrown } from "./thrown.js";

function fields(inputs: Record<string, unknown>): Record<string, FieldValue> {
  return Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, toFieldValue(name, input)]));
}

describe("the layout of a put", () => {
  it("takes response lengths from jagged fields and the mask from response_mask", () => {
    const layout = layoutOf(fields({ x: [[1, 2, 3], [4]], response_mask: [[1, 0, 1], [1]] }), { rows: 2 });
    expect(layout).toMatchObject({ rows: 2, width: 3, lengths: Int32Array.of(3, 1) });
    expect(layout.mask).toMatchObject({ kind: "runs", bounds: Int32Array.of(0, 1, 2, 3, 0, 1) });
  });

  it("prefers lengths that are given: further tokens of padded lists are padding", () => {
    const layout = layoutOf(
      fields({
        x: [
          [1, 2, 0],
          [4, 0, 0],
        ],
      }),
      { rows: 2, lengths: [2, 1] },
    );
    expect(layout).toEqual({ rows: 2, width: 3, lengths: Int32Array.of(2, 1) });
  });

  it("does not know lengths of dense fields, nor guess them from the mask", () => {
    const x = { data: Float32Array.of(1, 2, 0, 0), shape: [2, 2] };
    const response_mask = { data: Uint8Array.of(1, 1, 0, 0), shape: [2, 2] };
    expect(layoutOf(fields({ x, response_mask }), { rows: 2 })).toEqual({
      rows: 2,
      width: 2,
      mask: expect.objectContaining({ kind: "lengths", lengths: Int32Array.of(2, 0) }),
    });
  });

  it("is as wide as the tensors, which must be alike", () => {
    const a = { data: new Float32Array(6), shape: [2, 3] };
    const b = { data: new Float32Array(8), shape: [2, 4] };
    expect(layoutOf(fields({ a, x: [[1], [1, 2]] }), { rows: 2 }).width).toBe(3);
    expect(thrown(() => layoutOf(fields({ a, b }), { rows: 2 })).message).toContain("3 and 4 wide");
    expect(thrown(() => layoutOf(fields({ a, x: [[1], [1, 2, 3, 4]] }), { rows: 2 })).code).toBe("INVALID_INPUT");
    expect(thrown(() => layoutOf(fields({ a }), { rows: 2, lengths: [1, 4] })).code).toBe("INVALID_INPUT");
  });

  it.each([
    [{ x: [[1], [2]], y: [[1], [2, 3]] }, { rows: 2 }, { field: "y", row: 1 }],
    [
      {
        response_mask: [
          [1, 1],
          [1, 1],
        ],
      },
      { rows: 2, lengths: [2, 1] },
      { row: 1, column: 1 },
    ],
    [{ response_mask: [1, 1] }, { rows: 2 }, { field: "response_mask" }],
    [{ response_mask: { data: Float32Array.of(1, 0.5), shape: [1, 2] } }, { rows: 1 }, { row: 0, column: 1 }],
    [
      { response_mask: { data: BigInt64Array.of(1n, 0n, 1n << 32n), shape: [1, 3] } },
      { rows: 1 },
      { row: 0, column: 2 },
    ],
    [
      { response_mask: { data: Uint16Array.of(0x3f80), shape: [1, 1], dtype: "f16" } },
      { rows: 1 },
      { row: 0, column: 0 },
    ],
  ])("refuses fields that contradict themselves or each other (%#)", (inputs, options, details) => {
    const error = thrown(() => layoutOf(fields(inputs), options));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.details).toMatchObject(details);
  });

  it("takes -0 in a mask as 0", () => {
    const data = Float32Array.of(1, -0, 1, -0);
    expect(layoutOf(fields({ response_mask: { data, shape: [1, 4] } }), { rows: 1 }).mask).toMatchObject({
      kind: "runs",
      bounds: Int32Array.of(0, 1, 2, 3),
    });
  });
});

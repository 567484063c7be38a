import { expect, test } from "vitest";
import { decodeColumn } from "../../../src/columns/decode.js";
import { encodeColumns } from "../../../src/columns/encode.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import { makeSpans, prefixSpans } from "../../../src/columns/spans.js";
import type { ColumnHeader } from "../../../src/columns/tensor.js";
import { checkStepTokens } from "../../../src/columns/token-limit.js";

const ROWS = 4097;
const WIDTH = 16_384;
const WHOLE = new Int32Array(ROWS).fill(WIDTH);
const bytes = (array: Int32Array | Float32Array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const RUNS = Int32Array.from({ length: 2 * ROWS }, (_, i) => (i % 2) * WIDTH);

const shape = [ROWS, WIDTH] as const;
const parts = (named: Record<string, Int32Array | Float32Array>): Pick<ColumnHeader, "parts"> => {
  let at = 0;
  const entries = Object.entries(named).map(([name, array]) => {
    const place = [at, array.byteLength] as const;
    at += Math.ceil(array.byteLength / 8) * 8;
    return [name, place] as const;
  });
  return { parts: Object.fromEntries(entries) };
};

/** Columns of a few kilobytes that stand for 67 million tokens. */
const SMALL: [
  string,
  Omit<ColumnHeader, "name" | "parts"> & { name: string },
  Record<string, Int32Array | Float32Array>,
][] = [
  [
    "a mask as lengths",
    { name: "response_mask", enc: "lengths", dtype: "bool", shape, scope: "response" },
    { lengths: WHOLE },
  ],
  [
    "a mask as runs",
    { name: "response_mask", enc: "runs", dtype: "bool", shape, scope: "response" },
    { counts: new Int32Array(ROWS).fill(1), bounds: RUNS },
  ],
  [
    "one value a row",
    { name: "x", enc: "row", dtype: "f32", shape, scope: "response" },
    { values: new Float32Array(ROWS) },
  ],
  [
    "one value at the end, with lengths",
    { name: "x", enc: "last", dtype: "f32", shape, scope: "response" },
    { lengths: WHOLE, values: new Float32Array(ROWS) },
  ],
];

test.each(SMALL)("%s: refused where it is read, before anything is allocated", (_, header, named) => {
  const whole = { ...header, ...parts(named) } as ColumnHeader;
  const read = () => decodeColumn(whole, (part) => bytes(named[part]!), DEFAULT_LIMITS);
  expect(read).toThrow(expect.objectContaining({ code: "DECODE", message: expect.stringMatching(/67125248 tokens/) }));
});

test("the same fields are refused where they are put", () => {
  const field = { kind: "tensor", dtype: "f32", shape: [ROWS], data: new Float32Array(ROWS) } as const;
  const layout = { rows: ROWS, width: WIDTH };
  const mask = { kind: "lengths", dtype: "bool", scope: "response", rows: ROWS, width: WIDTH, lengths: WHOLE } as const;
  expect(() => encodeColumns({ x: field }, { layout: { ...layout, mask }, scopes: {} })).toThrow(
    expect.objectContaining({
      code: "LIMIT",
      message: expect.stringMatching(/67125248 tokens, the limit is 67108864/),
    }),
  );
});

test("positions of tokens never wrap around 2^31", () => {
  const rows = 2048;
  const width = 1 << 20;
  const error = expect.objectContaining({ code: "LIMIT" });
  expect(() => prefixSpans(new Int32Array(rows).fill(width), width)).toThrow(error);
  const offsets = Int32Array.from({ length: rows + 1 }, (_, i) => i);
  expect(() =>
    makeSpans(
      rows,
      width,
      offsets,
      Int32Array.from({ length: 2 * rows }, (_, i) => (i % 2) * width),
    ),
  ).toThrow(error);
  expect(prefixSpans(new Int32Array(rows).fill(width - 1), width).starts.at(-1)).toBe(rows * (width - 1));
});

test("puts that are small each are refused where a step of them is put together", () => {
  const half = { kind: "lengths", dtype: "bool", scope: "response", rows: 2049, width: WIDTH } as const;
  const column = { ...half, lengths: new Int32Array(2049).fill(WIDTH) };
  checkStepTokens("response_mask", [column], DEFAULT_LIMITS);
  expect(() => checkStepTokens("response_mask", [column, column], DEFAULT_LIMITS)).toThrow(
    expect.objectContaining({ code: "DECODE", message: expect.stringMatching(/in all its puts/) }),
  );
});

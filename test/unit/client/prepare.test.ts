import { describe, expect, test } from "vitest";
import { type PutInput, preparePut } from "../../../src/client/prepare.js";
import { decodeColumns } from "../../../src/columns/decode.js";
import { type FieldInput, toFieldValues } from "../../../src/columns/input.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import type { VectorColumn } from "../../../src/columns/tensor.js";
import type { Handle } from "../../../src/protocol/messages.js";
import type { FieldNeed } from "../../../src/protocol/pipeline-spec.js";
import { thrown } from "../columns/thrown.js";

const handleOf = (needs: readonly FieldNeed[], limits: Partial<Handle["limits"]> = {}) =>
  ({ v: 1, limits: { ...DEFAULT_LIMITS, ...limits }, stages: { post_reward: needs } }) as unknown as Handle;
const put = { stage: "post_reward", total_rows: 2, ranges: [0, 2] } as const;

const prepare = (limits: Partial<Handle["limits"]>) => {
  const fields = toFieldValues({ rm_scores: [[1, 2, 3], [4]], uid: ["long", "b"] });
  return preparePut(handleOf([{ name: "rm_scores", scope: "response" }, { name: "uid" }], limits), { ...put, fields });
};

test.each([{ max_rows: 1 }, { max_width: 2 }, { max_string_bytes: 3 }, { max_put_bytes: 8 }])(
  "a put beyond the handle's limits is refused before anything is sent: %j",
  (limits) => {
    expect(thrown(() => prepare(limits)).code).toBe("LIMIT");
  },
);

test("a put within them is prepared", () => {
  const { header, fields } = prepare({ max_rows: 2, max_width: 3, max_string_bytes: 4, max_put_bytes: 200 });
  expect(fields).toEqual(["rm_scores", "uid"]);
  expect(header.columns.map(({ name }) => name)).toEqual(["rm_scores", "uid"]);
});

describe("response lengths", () => {
  const handle = handleOf([{ name: "response_mask", scope: "response" }]);
  const sent = (mask: FieldInput, more: Partial<PutInput> = {}) => {
    const { header, chunks } = preparePut(handle, { ...put, fields: toFieldValues({ response_mask: mask }), ...more });
    const body = Buffer.concat(chunks);
    const column = header.columns.find(({ name }) => name === "lengths");
    return column && (decodeColumns([column], body, DEFAULT_LIMITS).get("lengths") as VectorColumn).values;
  };
  const ragged = [
    [1, 1, 1, 0],
    [1, 1, 0],
  ];

  test("are those of a ragged mask, whatever it holds, in the order of the rows", () => {
    expect(sent(ragged)).toEqual(Int32Array.of(4, 3));
    expect(sent(ragged, { order: Int32Array.of(1, 0) })).toEqual(Int32Array.of(3, 4));
    expect(sent({ values: Uint8Array.of(1, 0, 0), lengths: [1, 2], width: 9 })).toEqual(Int32Array.of(1, 2));
  });
  test("are those that are given, where both are; a padded mask has none", () => {
    expect(sent(ragged, { lengths: [3, 2] })).toEqual(Int32Array.of(3, 2));
    expect(sent({ data: Uint8Array.of(1, 1, 1, 0), shape: [2, 2] })).toBeUndefined();
  });
});

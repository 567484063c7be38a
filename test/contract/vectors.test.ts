import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bytesOf } from "../../src/columns/bytes.js";
import { decodeColumns } from "../../src/columns/decode.js";
import { DTYPES } from "../../src/columns/dtypes.js";
import { encodeColumns } from "../../src/columns/encode.js";
import { layoutOf, layoutOfColumns } from "../../src/columns/layout.js";
import { DEFAULT_LIMITS } from "../../src/columns/limits.js";
import { ENCODINGS, type FieldValue } from "../../src/columns/tensor.js";
import type { DataflexError } from "../../src/errors.js";
import { pack, unpack } from "../../src/protocol/codec.js";
import { contentHash, putId } from "../../src/protocol/put-id.js";
import { densify } from "../helpers/densify.js";
import { type ColumnsVector, fromJson, messageFromJson, toJson, type Vector } from "../helpers/vector-format.js";

const FOLDER = new URL("../vectors/v1/", import.meta.url);
const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.slice(0, -".json".length));
const vectors = names.map((name) => ({
  name,
  vector: JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")) as Vector,
  bin: readFileSync(new URL(`${name}.bin`, FOLDER)),
}));
const of = <K extends Vector["kind"]>(kind: K) =>
  vectors.filter(
    (v): v is { name: string; vector: Extract<Vector, { kind: K }>; bin: Buffer<ArrayBuffer> } =>
      v.vector.kind === kind,
  );

function fieldsOf({ rows, width, fields }: ColumnsVector): Record<string, FieldValue> {
  const entries = Object.entries(fields).map(([name, { dtype, scope, values }]): [string, FieldValue] => {
    if (dtype === "strings") return [name, { kind: "strings", values: values as readonly string[] }];
    const data = fromJson(dtype, values.flat());
    if (scope === undefined && Array.isArray(values[0])) {
      return [name, { kind: "features", dtype, shape: [rows, values[0].length], data }];
    }
    const shape = scope === undefined ? ([rows] as const) : ([rows, width] as const);
    return [name, { kind: "tensor", dtype, shape, data }];
  });
  return Object.fromEntries(entries);
}

describe("columns", () => {
  it.each(of("columns"))("$name: the values encode to these bytes", ({ vector, bin }) => {
    const fields = fieldsOf(vector);
    const { rows, lengths } = vector;
    const scopes = Object.fromEntries(Object.entries(vector.fields).map(([name, field]) => [name, field.scope]));
    const layout = layoutOf(fields, { rows, ...(lengths === undefined ? {} : { lengths }) });
    const { columns, parts, bytes } = encodeColumns(fields, { scopes, layout });
    expect(columns).toEqual(vector.columns);
    expect(bytes).toBe(vector.bytes);
    expect(Buffer.concat(parts).toString("hex")).toBe(bin.toString("hex"));
    expect(contentHash([bin], columns)).toBe(vector.hash);
  });

  it.each(of("columns"))("$name: the bytes decode to these values", ({ vector, bin }) => {
    const columns = decodeColumns(vector.columns, bin, DEFAULT_LIMITS);
    const layout = { ...layoutOfColumns(columns, vector.rows), width: vector.width };
    expect([...columns.keys()]).toEqual(Object.keys(vector.fields));
    for (const [name, { dtype, values }] of Object.entries(vector.fields)) {
      const column = columns.get(name)!;
      if (column.kind === "strings") {
        expect(Array.from(column.index, (at) => column.table[at])).toEqual(values);
        continue;
      }
      const tensor = densify(column, layout);
      expect(tensor.dtype).toBe(dtype);
      // A mask is read as 0 and 1 whatever its dtype; its own bits come back too.
      const expected = fromJson(tensor.dtype, values.flat());
      expect(toJson(tensor.dtype, tensor.data)).toEqual(toJson(tensor.dtype, expected));
      expect(Buffer.from(bytesOf(tensor.data)).equals(bytesOf(expected))).toBe(true);
    }
  });
});

describe("messages", () => {
  it.each(of("message"))("$name: value and bytes are each other", ({ vector, bin }) => {
    const value = messageFromJson(vector.value);
    expect(Buffer.from(pack(value)).toString("hex")).toBe(bin.toString("hex"));
    expect(unpack(bin)).toEqual(value);
  });

  it("put-header names the put it belongs to", () => {
    const put = of("columns").find(({ name }) => name === "put-multi-turn")!;
    const header = of("message").find(({ name }) => name === "put-header")!.vector.value;
    const { columns, hash, bytes, rows } = put.vector;
    const fields = columns.map(({ name }) => name);
    expect(header).toMatchObject({ columns, hash, bytes, id: putId("post_advantage", fields, [0, rows]) });
  });
});

describe("refused bytes", () => {
  it.each(of("refused"))("$name", ({ bin }) => {
    let code: string | undefined;
    try {
      unpack(bin);
    } catch (error) {
      code = (error as DataflexError).code;
    }
    expect(code).toBe("DECODE");
  });
});

describe("the set", () => {
  it("has a vector of every encoding and every dtype", () => {
    const columns = of("columns").flatMap(({ vector }) => vector.columns);
    expect(new Set(columns.map(({ enc }) => enc))).toEqual(new Set(ENCODINGS));
    expect(new Set(columns.flatMap(({ dtype }) => dtype ?? []))).toEqual(new Set(DTYPES));
  });

  it("has a .bin for every .json and the other way round", () => {
    const bins = readdirSync(FOLDER).filter((file) => file.endsWith(".bin"));
    expect(bins).toEqual(names.map((name) => `${name}.bin`));
  });
});

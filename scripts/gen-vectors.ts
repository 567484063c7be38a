import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { chunksOf } from "../src/columns/chunks.js";
import { encodeColumns } from "../src/columns/encode.js";
import { layoutOf } from "../src/columns/layout.js";
import { DEFAULT_LIMITS } from "../src/columns/limits.js";
import type { FieldValue } from "../src/columns/tensor.js";
import { pack } from "../src/protocol/codec.js";
import type { PutHeader } from "../src/protocol/messages.js";
import { contentHash, putId } from "../src/protocol/put-id.js";
import {
  type ColumnsVector,
  fromJson,
  messageFromJson,
  type Vector,
  type VectorField,
} from "../test/helpers/vector-format.js";
import type { ColumnsCase } from "./vector-cases/build.js";
import { MASK_CASES } from "./vector-cases/masks-and-puts.js";
import { MATRIX_CASES } from "./vector-cases/matrices.js";
import { MESSAGE_CASES, REFUSED_CASES } from "./vector-cases/messages.js";
import { SPARSE_CASES } from "./vector-cases/mostly-zero.js";
import { VECTOR_CASES } from "./vector-cases/vectors.js";

/**
 * Writes the golden vectors of protocol 1 into test/vectors/v1. A vector that exists is never changed: its bytes are in other people's
 * streams. A change of format adds vectors under a new version. Usage: tsx scripts/gen-vectors.ts
 */
const FOLDER = new URL("../test/vectors/v1/", import.meta.url);

function fieldOf({ dtype, scope, values }: VectorField, rows: number, width: number): FieldValue {
  if (dtype === "strings") return { kind: "strings", values: values as readonly string[] };
  const data = fromJson(dtype, values.flat());
  // A list of rows without a scope: features.
  if (scope === undefined && Array.isArray(values[0])) {
    return { kind: "features", dtype, shape: [rows, values[0].length], data };
  }
  const shape = scope === undefined ? ([rows] as const) : ([rows, width] as const);
  return { kind: "tensor", dtype, shape, data };
}

function columnsVector({ about, width, lengths, fields }: ColumnsCase): { vector: ColumnsVector; body: Uint8Array } {
  const rows = Object.values(fields)[0]!.values.length;
  const values = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldOf(field, rows, width)]));
  const scopes = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.scope]));
  const known = lengths === undefined ? {} : { lengths };
  const { columns, parts, bytes } = encodeColumns(values, { scopes, layout: layoutOf(values, { rows, ...known }) });
  const body = Buffer.concat(parts);
  const hash = contentHash([body], columns);
  return { vector: { kind: "columns", about, rows, width, ...known, fields, columns, bytes, hash }, body };
}

function putHeader({ columns, bytes, hash, rows }: ColumnsVector, body: Uint8Array): PutHeader {
  const chunk_bytes = DEFAULT_LIMITS.chunk_bytes;
  const names = columns.map(({ name }) => name);
  const chunks = chunksOf([body], bytes, chunk_bytes).length;
  const id = putId("post_advantage", names, [0, rows]);
  return {
    v: 1,
    id,
    hash,
    stage: "post_advantage",
    total_rows: rows,
    rows: [0, rows],
    columns,
    bytes,
    chunks,
    chunk_bytes,
  };
}

function write(name: string, vector: Vector, bytes: Uint8Array): void {
  const json = `${JSON.stringify(vector, null, 1)}\n`;
  const [jsonFile, binFile] = [new URL(`${name}.json`, FOLDER), new URL(`${name}.bin`, FOLDER)];
  if (existsSync(binFile)) {
    if (readFileSync(jsonFile, "utf8") === json && readFileSync(binFile).equals(bytes)) return;
    throw new Error(`${name} would change; a vector that exists stays. Add another one, or a new protocol version.`);
  }
  writeFileSync(jsonFile, json);
  writeFileSync(binFile, bytes);
  process.stdout.write(`wrote ${name}\n`);
}

mkdirSync(FOLDER, { recursive: true });
for (const [name, columnsCase] of Object.entries({
  ...VECTOR_CASES,
  ...MATRIX_CASES,
  ...SPARSE_CASES,
  ...MASK_CASES,
})) {
  const { vector, body } = columnsVector(columnsCase);
  write(name, vector, body);
  if (name === "put-multi-turn") {
    const value = putHeader(vector, body);
    write("put-header", { kind: "message", about: "The header of put-multi-turn.", value }, pack(value));
  }
}
for (const [name, { about, value }] of Object.entries(MESSAGE_CASES)) {
  write(name, { kind: "message", about, value }, pack(messageFromJson(value)));
}
for (const [name, { about, hex }] of Object.entries(REFUSED_CASES)) {
  write(name, { kind: "refused", about }, Buffer.from(hex, "hex"));
}

import { DataflexError } from "../../errors.js";
import { bytesOf } from "../bytes.js";
import type { Strings, StringsColumn } from "../tensor.js";
import { readI32, readPerRow } from "./integers.js";
import { type DecodeInput, exactPart, malformed, type Parts } from "./part.js";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** `strings`: the distinct strings in the order of their first row, their byte lengths, and each row's index. */
export function encodeStrings(
  field: string,
  { values }: Strings,
  maxBytes: number,
): { parts: Parts; distinct: number } {
  const indexOf = new Map<string, number>();
  const table: Buffer[] = [];
  const index = new Int32Array(values.length);
  for (let row = 0; row < values.length; row++) {
    const text = values[row]!;
    let at = indexOf.get(text);
    if (at === undefined) {
      at = table.length;
      indexOf.set(text, at);
      table.push(toBytes(field, text, row, maxBytes));
    }
    index[row] = at;
  }
  const parts: Parts = [
    ["sizes", bytesOf(Int32Array.from(table, (bytes) => bytes.length))],
    ["table", Buffer.concat(table)],
    ["index", bytesOf(index)],
  ];
  return { parts, distinct: table.length };
}

function toBytes(field: string, text: string, row: number, maxBytes: number): Buffer {
  if (/\p{Surrogate}/u.test(text)) {
    const message = `Field "${field}" holds half a surrogate pair in row ${row}, which UTF-8 cannot hold; send valid text.`;
    throw new DataflexError("INVALID_INPUT", message, { field, row });
  }
  const bytes = Buffer.from(text);
  if (bytes.length > maxBytes) {
    const message = `Field "${field}" holds a string of ${bytes.length} bytes in row ${row}, the limit is ${maxBytes}; shorten it.`;
    throw new DataflexError("LIMIT", message, { field, row, limit: maxBytes });
  }
  return bytes;
}

/** The table's strings must be distinct: readers group rows by index. */
export function decodeStrings(input: DecodeInput): StringsColumn {
  const { name, rows, distinct, limits } = input;
  const sizes = readI32(input, "sizes", distinct);
  let total = 0;
  for (const size of sizes) {
    if (size < 0 || size > limits.max_string_bytes) {
      malformed(name, `its table declares a string of ${size} bytes, the limit is ${limits.max_string_bytes}`);
    }
    total += size;
  }
  const bytes = exactPart(input, "table", total);
  const index = readPerRow(input, "index", distinct - 1);
  const table: string[] = [];
  let at = 0;
  for (const size of sizes) {
    table.push(text(name, bytes.subarray(at, at + size), table.length));
    at += size;
  }
  if (new Set(table).size !== table.length) malformed(name, "its table holds a string twice");
  return { kind: "strings", rows, table, index };
}

function text(name: string, bytes: Uint8Array, entry: number): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return malformed(name, `entry ${entry} of its table is not valid UTF-8`);
  }
}

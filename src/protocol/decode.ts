import { type CheckedHeader, checkColumnHeader } from "./column-header.js";
import { decodeDense } from "./encodings/dense.js";
import { decodeJagged } from "./encodings/jagged.js";
import { decodeLast } from "./encodings/last.js";
import { decodeLengths } from "./encodings/lengths.js";
import { type DecodeInput, malformed } from "./encodings/part.js";
import { decodeRow } from "./encodings/row.js";
import { decodeRuns } from "./encodings/runs.js";
import { decodeSparse } from "./encodings/sparse.js";
import { decodeStrings } from "./encodings/strings.js";
import { isMaskField } from "./field-names.js";
import { maskFromColumn } from "./mask-column.js";
import type { Limits } from "./messages.js";
import type { Column, ColumnHeader, Encoding } from "./tensor.js";

const DECODERS: Readonly<Record<Encoding, (input: DecodeInput) => Column>> = {
  dense: decodeDense,
  jagged: decodeJagged,
  row: decodeRow,
  last: decodeLast,
  sparse: decodeSparse,
  lengths: decodeLengths,
  runs: decodeRuns,
  strings: decodeStrings,
};

/**
 * One column from its header and parts, still in its compact form; a mask always as `lengths` or `runs`. Everything declared is checked,
 * sizes before anything is allocated. Values lie in the part's bytes where dtype and alignment allow, so keep these unchanged.
 *
 * @param part  bytes of a part by name; asked only for parts that the header declares
 * @throws DataflexError DECODE naming the column and what is wrong, with row and column where they are known
 */
export function decodeColumn(header: ColumnHeader, part: (name: string) => Uint8Array, limits: Limits): Column {
  return decodeChecked(checkColumnHeader(header, limits), part, limits);
}

/**
 * All columns of a body.
 *
 * @throws DataflexError DECODE as `decodeColumn`; also for parts outside the body or lying over each other, and for a name given twice
 */
export function decodeColumns(headers: readonly ColumnHeader[], body: Uint8Array, limits: Limits): Map<string, Column> {
  if (!Array.isArray(headers)) malformed("?", "the column headers are no array");
  if (body.length > limits.max_put_bytes) {
    malformed("?", `the body has ${body.length} bytes, the limit is ${limits.max_put_bytes}`);
  }
  const columns = new Map<string, Column>();
  // Parts that overlap would let a small body decode into a large amount of memory.
  let spent = 0;
  for (const header of headers) {
    const checked = checkColumnHeader(header, limits);
    const { name, parts } = checked;
    if (columns.has(name)) malformed(name, "it is there twice");
    for (const [part, [offset, length]] of Object.entries(parts)) {
      if (offset + length > body.length) {
        malformed(name, `part "${part}" ends at ${offset + length}, the body has ${body.length} bytes`, { part });
      }
      spent += length;
    }
    if (spent > body.length) malformed(name, "the parts add up to more bytes than the body has");
    const take = (part: string): Uint8Array => {
      const [offset, length] = parts[part]!;
      return body.subarray(offset, offset + length);
    };
    columns.set(name, decodeChecked(checked, take, limits));
  }
  return columns;
}

function decodeChecked(header: CheckedHeader, part: (name: string) => Uint8Array, limits: Limits): Column {
  const { name, parts } = header;
  const column = DECODERS[header.enc]({
    ...header,
    limits,
    has: (wanted) => Object.hasOwn(parts, wanted),
    part(wanted) {
      const bytes = part(wanted);
      const declared = parts[wanted]![1];
      if (bytes.length !== declared) {
        malformed(name, `part "${wanted}" has ${bytes.length} bytes, its header says ${declared}`, { part: wanted });
      }
      return bytes;
    },
  });
  return isMaskField(name) ? maskFromColumn(name, column) : column;
}

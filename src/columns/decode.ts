import { type CheckedHeader, checkColumnHeader, checkHeaders } from "./column-header.js";
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
import type { Limits } from "./limits.js";
import { maskFromColumn } from "./mask-column.js";
import type { Column, ColumnHeader, Encoding } from "./tensor.js";
import { checkTokens } from "./token-limit.js";

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
 * sizes before anything is allocated. Where dtype and alignment allow, values are views of the part's bytes, which must not change.
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
 * @throws DataflexError DECODE as `decodeColumn` and `checkHeaders`
 */
export function decodeColumns(headers: readonly ColumnHeader[], body: Uint8Array, limits: Limits): Map<string, Column> {
  const columns = new Map<string, Column>();
  for (const [name, header] of checkHeaders(headers, body.length, limits)) {
    const take = (part: string): Uint8Array => {
      const [offset, length] = header.parts[part]!;
      return body.subarray(offset, offset + length);
    };
    columns.set(name, decodeChecked(header, take, limits));
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
  const read = isMaskField(name) ? maskFromColumn(name, column) : column;
  checkTokens(name, read, limits);
  return read;
}

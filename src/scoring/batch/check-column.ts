import { lastToken } from "../../columns/span-walks.js";
import type { Column } from "../../columns/tensor.js";
import { DataflexError } from "../../errors.js";
import type { Frame } from "./frame.js";

/**
 * Refuses a column that does not fit its batch. The fused loops index without bounds checks, so this is the one place where a wrong length
 * is caught, in O(rows). @throws DataflexError INVALID_INPUT naming field, row and numbers.
 */
export function checkColumn(name: string, column: Column, frame: Frame): void {
  const fail = (what: string, details: Record<string, unknown> = {}): never => {
    throw new DataflexError("INVALID_INPUT", `field '${name}' (${column.kind}): ${what}`, { field: name, ...details });
  };
  const same = (what: string, have: number, want: number): void => {
    if (have !== want) fail(`${what} is ${have}, the batch needs ${want}`, { have, want });
  };
  same("number of rows", column.rows, frame.rows);
  if (column.kind !== "vector" && column.kind !== "strings" && column.kind !== "features")
    same("width", column.width, frame.width);
  switch (column.kind) {
    case "vector":
    case "row":
    case "last":
      same("number of values", column.values.length, frame.rows);
      return;
    case "features":
      same("number of values", column.values.length, frame.rows * column.width);
      return;
    case "strings":
      same("number of indices", column.index.length, frame.rows);
      column.index.forEach((k, row) => {
        if (k < 0 || k >= column.table.length)
          fail(`row ${row} points to string ${k} of ${column.table.length}`, { row });
      });
      return;
    case "dense":
      same("number of values", column.values.length, frame.rows * frame.width);
      return;
    case "lengths":
      same("number of lengths", column.lengths.length, frame.rows);
      return;
    case "runs":
      same("number of offsets", column.offsets.length, frame.rows + 1);
      return;
    case "sparse":
      same("number of offsets", column.offsets.length, frame.rows + 1);
      same("number of indices", column.index.length, column.values.length);
      column.index.forEach((token, k) => {
        if (token < 0 || token >= frame.width)
          fail(`index ${token} lies outside the width ${frame.width}`, { k, token });
      });
      return;
    case "jagged": {
      same("number of offsets", column.offsets.length, frame.rows + 1);
      same("last offset", column.offsets[frame.rows] ?? 0, column.values.length);
      const spans = column.scope === "mask" ? frame.mask : frame.response;
      for (let row = 0; row < frame.rows; row++) {
        if (frame.real[row] !== 1) continue; // padding may hold tokens, which are never read
        const have = column.offsets[row + 1]! - column.offsets[row]!;
        const want =
          column.scope === "mask" ? spans.counts[row]! : Math.max(lastToken(frame.mask, row) + 1, spans.counts[row]!);
        if (have !== want)
          fail(`row ${row} holds ${have} tokens, its ${column.scope} has ${want}`, { row, have, want });
      }
    }
  }
}

/** The error for reading a column as a kind that it is not. */
export function wrongKind(name: string, column: Column, method: string, what: string): DataflexError {
  const instead = { vector: "column", strings: "strings", features: "features" }[column.kind as "vector"] ?? "field";
  return new DataflexError(
    "COMPONENT",
    `batch.${method}('${name}') wants ${what}, but the field is encoded as ${column.kind}: use batch.${instead}('${name}')`,
    { field: name, kind: column.kind },
  );
}

import { malformed } from "./encodings/part.js";
import type { Column, MaskColumn } from "./tensor.js";

/**
 * A decoded mask as `lengths` or `runs`, however it was encoded.
 *
 * @throws DataflexError DECODE with row and column: an element neither 0 nor 1, or a form that no mask has
 */
export function maskFromColumn(name: string, column: Column): MaskColumn {
  if (column.kind === "lengths" || column.kind === "runs") return column;
  if (column.kind !== "dense" && column.kind !== "jagged") {
    return malformed(name, `a mask is a dense, jagged, lengths or runs matrix, not ${column.kind}`);
  }
  const { rows, width, dtype, scope, values } = column;
  const offsets = new Int32Array(rows + 1);
  const lengths = new Int32Array(rows);
  const bounds: number[] = [];
  let prefix = true;
  for (let row = 0; row < rows; row++) {
    const start = column.kind === "dense" ? row * width : column.offsets[row]!;
    const length = column.kind === "dense" ? width : column.offsets[row + 1]! - start;
    const before = bounds.length;
    let inside = false;
    for (let j = 0; j < length; j++) {
      const value = values[start + j]!;
      if (value !== 0 && value !== 1) {
        malformed(name, `it is ${value} in row ${row}, column ${j}, and a mask holds only 0 and 1`, { row, column: j });
      }
      if ((value === 1) !== inside) {
        bounds.push(j);
        inside = !inside;
      }
    }
    if (inside) bounds.push(length);
    offsets[row + 1] = bounds.length / 2;
    const runs = (bounds.length - before) / 2;
    prefix &&= runs === 0 || (runs === 1 && bounds[before] === 0);
    if (runs === 1) lengths[row] = bounds[before + 1]!;
  }
  const base = { dtype, scope, rows, width } as const;
  if (prefix) return { kind: "lengths", ...base, lengths };
  return { kind: "runs", ...base, offsets, bounds: Int32Array.from(bounds) };
}

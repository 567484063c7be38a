import type { Source } from "./merge-plan.js";
import type { LengthsColumn, MaskColumn, StringsColumn } from "./tensor.js";

/** String columns: one table for both, in the order of first rows, as an encoder would build it. */
export function mergeStrings(columns: readonly StringsColumn[], sources: readonly Source[]): StringsColumn {
  const indexOf = new Map<string, number>();
  const index = Int32Array.from(sources, ({ piece, row }) => {
    const column = columns[piece]!;
    const text = column.table[column.index[row]!]!;
    const known = indexOf.get(text);
    if (known !== undefined) return known;
    indexOf.set(text, indexOf.size);
    return indexOf.size - 1;
  });
  return { kind: "strings", rows: sources.length, table: [...indexOf.keys()], index };
}

/** Masks: `lengths` when all are, else `runs`. Of different dtypes: bool. */
export function mergeMasks(columns: readonly MaskColumn[], sources: readonly Source[]): MaskColumn {
  const first = columns[0]!;
  const dtype = columns.every((column) => column.dtype === first.dtype) ? first.dtype : "bool";
  const width = columns.reduce((widest, column) => Math.max(widest, column.width), 0);
  const base = { dtype, scope: first.scope, rows: sources.length, width };
  if (columns.every((column): column is LengthsColumn => column.kind === "lengths")) {
    const lengths = Int32Array.from(sources, ({ piece, row }) => columns[piece]!.lengths[row]!);
    return { kind: "lengths", ...base, lengths };
  }
  const offsets = new Int32Array(sources.length + 1);
  const bounds: number[] = [];
  sources.forEach(({ piece, row }, i) => {
    const column = columns[piece]!;
    if (column.kind === "lengths") {
      if (column.lengths[row]! > 0) bounds.push(0, column.lengths[row]!);
    } else {
      for (let k = 2 * column.offsets[row]!; k < 2 * column.offsets[row + 1]!; k++) bounds.push(column.bounds[k]!);
    }
    offsets[i + 1] = bounds.length / 2;
  });
  return { kind: "runs", ...base, offsets, bounds: Int32Array.from(bounds) };
}

import type { FieldValue, Tensor } from "./tensor.js";

/** Two rows of one (uid, session) with the same index: which of them is the later one, nobody could say. Padding rows do not count. */
export function sameIndexTwice(
  uid: readonly string[],
  session: readonly string[],
  index: ArrayLike<number>,
  padding?: ArrayLike<unknown>,
): readonly [first: number, second: number] | undefined {
  const seen = new Map<string, Map<string, Map<number, number>>>();
  for (let row = 0; row < uid.length; row++) {
    if (padding?.[row]) continue;
    const sessions = entry(seen, uid[row]!, () => new Map<string, Map<number, number>>());
    const rows = entry(sessions, session[row]!, () => new Map<number, number>());
    const first = entry(rows, index[row]!, () => row);
    if (first !== row) return [first, row];
  }
  return undefined;
}

/** A field's numbers as session indices, and the first row, if any, whose number is none: whole, from 0, below 2^31. */
export function toSessionIndex(value: FieldValue): Tensor | { readonly badRow: number } {
  if (value.kind !== "tensor" || value.shape.length !== 1) return { badRow: 0 };
  const numbers = Array.from<number | bigint, number>(value.data, Number);
  const words = value.dtype === "f16" || value.dtype === "bf16" || value.dtype === "bool";
  const badRow = words ? 0 : numbers.findIndex((n) => !Number.isInteger(n) || n < 0 || n > 0x7fffffff);
  if (badRow >= 0 && numbers.length > 0) return { badRow };
  return { kind: "tensor", dtype: "i32", shape: [numbers.length], data: Int32Array.from(numbers) };
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

/**
 * `rows` in order of value: highest first (or lowest first), equal values (as float32) by row number. Values must not be NaN.
 */
export function rankOrder(rows: Int32Array, values: Float64Array, largest: boolean): Int32Array {
  const sign = largest ? -1 : 1;
  return rows.slice().sort((a, b) => {
    const x = Math.fround(values[a]!);
    const y = Math.fround(values[b]!);
    return x === y ? a - b : x < y ? -sign : sign;
  });
}

/**
 * Linear quantile: h = q(n − 1), between the neighbours of h; written from the nearer end, so that both ends are exact. 0 for n = 0.
 * Sorts `values` in place.
 */
export function quantileOf(values: Float64Array, q: number): number {
  if (!(q >= 0 && q <= 1)) throw new RangeError(`a quantile must be between 0 and 1, not ${q}`);
  if (values.length === 0) return 0;
  values.sort();
  const h = q * (values.length - 1);
  const low = values[Math.floor(h)]!;
  const high = values[Math.ceil(h)]!;
  const g = h - Math.floor(h);
  return g < 0.5 ? low + g * (high - low) : high - (1 - g) * (high - low);
}

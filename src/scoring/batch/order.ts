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
 * Linear quantile: h = q(n − 1), between the neighbours of h; written from the nearer end, so that both ends are exact; 0 for n = 0.
 * Reorders `values` in place.
 */
export function quantileOf(values: Float64Array, q: number): number {
  if (!(q >= 0 && q <= 1)) throw new RangeError(`a quantile must be between 0 and 1, not ${q}`);
  if (values.length === 0) return 0;
  const h = q * (values.length - 1);
  const k = Math.floor(h);
  const low = smallest(values, k);
  // Everything after k is at least as large: the next in order is the smallest of it.
  const high = h === k ? low : values.subarray(k + 1).reduce((least, value) => Math.min(least, value), Infinity);
  const g = h - k;
  return g < 0.5 ? low + g * (high - low) : high - (1 - g) * (high - low);
}

/**
 * The k-th smallest, counted from 0, by repeated partition (Hoare): linear on average, unlike sorting millions of tokens. Afterwards nothing
 * before place k is larger, and nothing after it smaller.
 */
function smallest(values: Float64Array, k: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = median(values[low]!, values[(low + high) >> 1]!, values[high]!);
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i <= j) {
        const held = values[i]!;
        values[i++] = values[j]!;
        values[j--] = held;
      }
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
  }
  return values[k]!;
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

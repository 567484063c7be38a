/** Nearest integer, halves to the even one (2.5 → 2, 3.5 → 4), as Python and NumPy round. */
export function roundHalfEven(x: number): number {
  const low = Math.floor(x);
  const fraction = x - low;
  if (fraction !== 0.5) return Math.round(x);
  return low % 2 === 0 ? low : low + 1;
}

/** How many of `n` a fraction keeps: at least one, halves to even. */
export function shareOf(fraction: number, n: number): number {
  return Math.max(1, roundHalfEven(fraction * n));
}

/** Gives a number in [0, 1) at each call. */
export type Rng = () => number;

/**
 * A seeded generator of uniform numbers in [0, 1): the same words give the same numbers on every machine. Not for secrets.
 *
 * The words are hashed to 32 bits (FNV-1a) to place the start of a Weyl sequence, a counter that adds an odd constant modulo 2^32 and
 * so visits every 32-bit value once; each value is then scrambled by two rounds of xor-shift and multiplication by odd numbers.
 * Two such sequences give the 53 bits of one number. Period 2^32. (Multipliers of the scramble: "lowbias32" by C. Wellons, found by
 * search for the least bias; public domain.)
 */
export function seededRng(...words: readonly (string | number)[]): Rng {
  const text = words.join("\u0000");
  let high = hash(text, 0x811c9dc5);
  let low = hash(text, 0x01000193);
  return () => {
    high = (high + 0x9e3779b9) | 0;
    low = (low + 0x6c62272d) | 0;
    return ((scramble(high) >>> 5) * 2 ** 26 + (scramble(low) >>> 6)) / 2 ** 53;
  };
}

/** A whole number in [0, n). */
export function drawInt(rng: Rng, n: number): number {
  return Math.floor(rng() * n);
}

/** FNV-1a over UTF-16 code units, from a given start. */
function hash(text: string, start: number): number {
  let value = start;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return scramble(value);
}

function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}

/**
 * Uniform numbers in [0, 1) from integer keys: xoshiro128** (Blackman & Vigna, 2018), its state filled by a 32-bit mixer.
 *
 * Equal keys give equal sequences on every platform (integer arithmetic only). The demo keys every stream by
 * (seed, purpose, step), so that the weighted and the unweighted run meet the same tasks and the same sampling noise.
 */
export type Rng = () => number;

export function createRng(...keys: readonly number[]): Rng {
  let mixer = 0x243f6a88;
  for (const key of keys) mixer = mix32(mixer ^ mix32(key | 0));
  const next = (): number => {
    mixer = (mixer + 0x9e3779b9) | 0;
    return mix32(mixer);
  };
  let a = next();
  let b = next();
  let c = next();
  let d = next() | 1; // the all-zero state is the one fixed point
  return () => {
    const result = Math.imul(rotl(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotl(d, 11);
    return result / 2 ** 32;
  };
}

/** A whole number in [0, n). */
export function drawInt(rng: Rng, n: number): number {
  return Math.floor(rng() * n);
}

/** Bijective avalanche of 32 bits: every input bit reaches every output bit. */
function mix32(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return x ^ (x >>> 15);
}

function rotl(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by));
}

import fc from "fast-check";
import { expect, it } from "vitest";
import type { TokenField } from "../../../../src/scoring/batch/token-field.js";
import { ENCODE_AS } from "../../../../src/testing/encode-tokens.js";
import { fakeBatch } from "../../../../src/testing.js";

const number = fc.double({ min: -8, max: 8, noNaN: true });
const rubbish = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1e308, 0, 3);
const token = fc.record({ live: fc.boolean(), value: fc.oneof(number, fc.constant(0)), rubbish });
/** Rows of different kinds, so that `row`, `last` and `sparse` encodings occur, not only `jagged`. */
const row = fc.oneof(
  fc.array(token, { maxLength: 7 }),
  fc.tuple(fc.array(token, { maxLength: 7 }), number).map(([tokens, value]) => tokens.map((t) => ({ ...t, value }))),
  fc
    .tuple(fc.array(token, { minLength: 1, maxLength: 7 }), number)
    .map(([tokens, value]) => tokens.map((t, i) => ({ ...t, live: true, value: i === tokens.length - 1 ? value : 0 }))),
);
const matrix = fc.oneof(
  fc.array(row, { minLength: 1, maxLength: 6 }),
  row.chain((one) => fc.constant([one, one])),
);

const CHAINS: readonly { of: (f: TokenField) => TokenField; one: (x: number) => number }[] = [
  { of: (f) => f, one: (x) => x },
  { of: (f) => f.abs().mul(3).sub(1), one: (x) => Math.abs(x) * 3 - 1 },
  { of: (f) => f.exp().clip(0.5, 2), one: (x) => Math.min(Math.max(Math.exp(x), 0.5), 2) },
  { of: (f) => f.square().add(f.mul(f)).add(1).log(), one: (x) => Math.log(2 * x * x + 1) },
  { of: (f) => f.map((x) => Math.sin(x)), one: Math.sin },
];

const close = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

it("equals a plain loop over the unmasked tokens, in every encoding, whatever stands under mask 0", () => {
  fc.assert(
    fc.property(matrix, fc.nat(CHAINS.length - 1), fc.constantFrom(...ENCODE_AS), (rows, chain, encode) => {
      const values = rows.map((tokens) => tokens.map((t) => (t.live ? t.value : t.rubbish)));
      const response_mask = rows.map((tokens) => tokens.map((t) => Number(t.live)));
      const batch = fakeBatch({ values, response_mask }, { encode });
      const { of, one } = CHAINS[chain]!;
      const field = of(batch.field("values"));
      const results = (["sum", "mean", "min", "max", "last"] as const).map((name) => field[name]().values);
      rows.forEach((tokens, i) => {
        const live = tokens.filter((t) => t.live).map((t) => one(t.value));
        const sum = live.reduce((a, b) => a + b, 0);
        const want =
          live.length === 0
            ? [0, 0, 0, 0, 0]
            : [sum, sum / live.length, Math.min(...live), Math.max(...live), live.at(-1)!];
        want.forEach((value, k) => {
          expect(close(results[k]![i]!, value), `${k}: ${results[k]![i]} instead of ${value}`).toBe(true);
        });
      });
    }),
    { numRuns: 400 },
  );
});

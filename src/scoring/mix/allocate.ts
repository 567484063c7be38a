import { DataflexError } from "../../errors.js";

export interface Allocation {
  /** Whole numbers that sum to the batch size, in the order of the proportions. */
  readonly counts: readonly number[];
  /** How much each domain is still owed (above 0) or was overpaid (below 0); pass it to the next call. */
  readonly carry: readonly number[];
}

/**
 * Whole prompts from proportions, by the largest-remainder rule: every domain gets the floor of its target, and the rest go one by one to the
 * largest fractions; for equal fractions to the earlier domain. The previous call's `carry` is added to the targets, so that a domain whose
 * share is less than one prompt per batch still gets its share over time.
 *
 * Example: [.5, .3, .2] of 7 → 4, 2, 1; thirds of 64 → 22, 21, 21.
 *
 * @param proportions finite, ≥ 0, with a sum above 0; they are divided by their sum
 * @param batchSize whole number ≥ 0
 * @throws DataflexError INVALID_INPUT naming the entry
 */
export function allocate(proportions: readonly number[], batchSize: number, carry?: readonly number[]): Allocation {
  check(proportions, batchSize, carry);
  const total = proportions.reduce((sum, p) => sum + p, 0);
  const targets = proportions.map((p, i) => settled((p / total) * batchSize + (carry?.[i] ?? 0)));
  // A domain that got too much before may now be owed less than nothing: it gets none, and stays in debt.
  const counts = targets.map((target) => Math.max(0, Math.floor(target)));
  let left = batchSize - counts.reduce((sum, n) => sum + n, 0);
  const order = targets.map((_, i) => i);
  const fraction = (i: number): number => settled(targets[i]! - counts[i]!);
  for (; left > 0; left--) {
    const next = order.reduce((best, i) => (fraction(i) > fraction(best) ? i : best));
    counts[next]! += 1;
  }
  for (; left < 0; left++) {
    const least = order.filter((i) => counts[i]! > 0).reduce((best, i) => (fraction(i) < fraction(best) ? i : best));
    counts[least]! -= 1;
  }
  return { counts, carry: targets.map((target, i) => target - counts[i]!) };
}

/** Rounding errors must not decide between equal fractions, nor turn 3 into 2.9999999. */
function settled(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

function check(proportions: readonly number[], batchSize: number, carry: readonly number[] | undefined): void {
  const refuse = (message: string, details: Record<string, unknown>): never => {
    throw new DataflexError("INVALID_INPUT", message, details);
  };
  const bad = proportions.findIndex((p) => !Number.isFinite(p) || p < 0);
  if (bad >= 0) refuse(`proportion ${bad} is ${proportions[bad]}; it must be a number >= 0`, { index: bad });
  if (!proportions.some((p) => p > 0)) refuse("proportions need at least one entry above 0", {});
  if (!Number.isSafeInteger(batchSize) || batchSize < 0)
    refuse(`the batch size is ${batchSize}; it must be a whole number >= 0`, { batch_size: batchSize });
  if (carry === undefined) return;
  if (carry.length !== proportions.length)
    refuse(`carry has ${carry.length} entries for ${proportions.length} proportions; pass the last call's`, {});
  const wild = carry.findIndex((c) => !Number.isFinite(c));
  if (wild >= 0) refuse(`carry ${wild} is ${carry[wild]}; it must be finite`, { index: wild });
}

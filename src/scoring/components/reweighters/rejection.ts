import type { RowVector } from "../../batch/row-vector.js";
import type { TokenField } from "../../batch/token-field.js";

/** verl's statistics of how far policy and rollout engine disagree; `token_*` reject tokens, `seq_*` whole rows. */
export const REJECTIONS = [
  "token_k1",
  "token_k2",
  "token_k3",
  "seq_sum_k1",
  "seq_sum_k2",
  "seq_sum_k3",
  "seq_mean_k1",
  "seq_mean_k2",
  "seq_mean_k3",
  "seq_max_k2",
  "seq_max_k3",
] as const;
export type Rejection = (typeof REJECTIONS)[number];

export interface Bounds {
  /** Of k1 only; default 1 / high. */
  readonly low: number | null;
  readonly high: number;
}

/**
 * 1 for what is kept, 0 for what is rejected, one number a token. With l = ln ratio: k1 = −l, k2 = l²/2, k3 = e^l − 1 − l. k1 is kept within
 * [ln low, ln high], k2 and k3 up to high; compared as float32. Mind the sign: because k1 = −l, bounds low … high keep ratios from
 * 1/high to 1/low.
 */
export function keptTokens(ratio: TokenField, rejection: Rejection, bounds: Bounds): TokenField {
  const [level, ...rest] = rejection.split("_") as [string, ...string[]];
  const estimate = rest.at(-1)!;
  const k = estimates[estimate as keyof typeof estimates](ratio);
  const isKept = within(estimate, bounds);
  if (level === "token") return k.map(isKept);
  const statistic: RowVector = k[rest[0] as "sum" | "mean" | "max"]();
  return ratio.map((_, value) => isKept(value!), statistic);
}

const estimates = {
  k1: (ratio: TokenField) => ratio.log().mul(-1),
  k2: (ratio: TokenField) => ratio.log().square().div(2),
  k3: (ratio: TokenField) => ratio.map((r) => r - 1 - Math.log(r)),
};

function within(estimate: string, { low, high }: Bounds): (value: number) => number {
  if (estimate !== "k1") return (value) => Number(Math.fround(value) <= Math.fround(high));
  const from = Math.fround(Math.log(low ?? 1 / high));
  const to = Math.fround(Math.log(high));
  return (value) => Number(Math.fround(value) >= from && Math.fround(value) <= to);
}

import { z } from "zod";
import type { TokenField } from "../../batch/token-field.js";
import { defineReweighter } from "../define.js";
import { LOG_RATIO_BOUND } from "../scorers/log-ratio.js";
import { keptTokens, REJECTIONS } from "./rejection.js";

/** verl's guard of the mean it divides by; below it nothing is divided. */
const EPSILON = 1e-8;

/**
 * Corrects for the difference between the policy that trains and the engine that sampled, as verl's rollout correction does.
 *
 * ρ = the token's ratio (`level: token`), the product over the row's unmasked tokens (`sequence`), or 1 (`none`).
 * w = min(ρ, high) (`method: truncate`, TIS), ρ clamped to [low, high] (`clip`), or ρ where low ≤ ρ ≤ high, else 0 (`mask`, IcePop). `batch_normalize`: w over its mean, of
 * unmasked tokens (token) or of rows (sequence). `reject`: 0 where a statistic leaves its bounds. `(rows, L)` → `(rows, L)`, w ≥ 0.
 * A product is clamped to e^±20. Bounds are inclusive and compared as float32.
 *
 * Example: ratios [[1, 1, 2, .5], [3, 1, 1]], truncate at 2 → [[1, 1, 2, .5], [2, 1, 1]]; mask .5 to 2 → second row 0, 1, 1.
 * Source: verl rollout_corr_helper.py.
 */
export const rolloutIs = defineReweighter({
  name: "rollout_is",
  accepts: "token",
  rows: "batch",
  params: z.strictObject({
    level: z.enum(["token", "sequence", "none"]).default("token"),
    method: z.enum(["truncate", "mask", "clip"]).default("truncate"),
    high: z.number().positive().default(2),
    low: z.number().min(0).default(0.5),
    batch_normalize: z.boolean().default(false),
    reject: z.enum(["none", ...REJECTIONS]).default("none"),
    reject_high: z.number().positive().default(2),
    reject_low: z.number().positive().nullable().default(null),
  }),
  rules: [
    { rule: "at_most", params: ["low", "high"] },
    { rule: "at_most", params: ["reject_low", "reject_high"] },
  ],
  doc: {
    summary: "Importance weights between training policy and rollout engine: truncated, masked, normalised.",
    formula:
      "rho = s[i,t] (token), product over t with m[i,t]=1 of s[i,t] (sequence), 1 (none)\ntruncate: w = min(rho, high)\nclip: w = rho clamped to [low, high]\nmask: w = rho if low <= rho <= high else 0\nbatch_normalize: w / mean(w) over unmasked tokens (token) or rows (sequence)\nreject, l = ln s: k1 = -l kept in [ln reject_low, ln reject_high]; k2 = l^2/2 and k3 = e^l - 1 - l kept up to reject_high",
    score: "the token ratio (is_ratio)",
    edges: [
      "set normalize: none for verl's own weights: the default makes them mean one over tokens",
      "a trainer that already corrects by itself (verl: rollout_is) would correct twice: turn one of the two off",
      "a product over the row is clamped to e^±20",
      "bounds are inclusive, compared as float32",
      "because k1 = -l, reject bounds low to high keep ratios from 1/high to 1/low; the geometric trust region is seq_mean_k1",
      "batch_normalize divides before anything is rejected, and not at all when the mean is 1e-8 or less",
    ],
    params: {
      level: "token, sequence (one weight per row), or none (only reject)",
      method: "truncate (TIS), mask (IcePop) or clip (OpenRLHF's tis, slime's clip)",
      high: "upper bound of the ratio, > 0",
      low: "lower bound of the ratio under mask and clip, ≥ 0",
      batch_normalize: "divide by the mean weight of the step",
      reject: "statistic whose outliers get weight 0: token_* drops tokens, seq_* drops rows",
      reject_high: "upper bound of the statistic (of k1: its logarithm), > 0",
      reject_low: "lower bound of k1 (its logarithm); null: 1 / reject_high",
    },
    source: {
      ref: "verl rollout_corr_helper.py",
      verified: "verl's code read, fixture E12 recomputed",
      differs:
        "token ratios are clamped to e^±20 before they are multiplied; one rejection per pipeline: mount several to combine",
    },
  },
  act(ratio, _batch, { params }) {
    const { level, reject, reject_high, reject_low } = params;
    const bounded = bound(levelled(ratio, level), params);
    const weights = params.batch_normalize ? bounded.div(divisor(bounded, level)) : bounded;
    if (reject === "none") return weights;
    return weights.mul(keptTokens(ratio, reject, { low: reject_low, high: reject_high }));
  },
});

function levelled(ratio: TokenField, level: "token" | "sequence" | "none"): TokenField {
  if (level === "token") return ratio;
  if (level === "none") return ratio.map(() => 1);
  const product = ratio.log().sum().clip(-LOG_RATIO_BOUND, LOG_RATIO_BOUND).exp();
  return ratio.map((_, row) => row!, product);
}

function bound(
  ratio: TokenField,
  { method, low, high, level }: { method: string; low: number; high: number; level: string },
) {
  if (level === "none") return ratio;
  if (method === "truncate") return ratio.clip(0, high);
  if (method === "clip") return ratio.clip(low, high);
  const [from, to] = [Math.fround(low), Math.fround(high)];
  return ratio.map((rho) => (Math.fround(rho) >= from && Math.fround(rho) <= to ? rho : 0));
}

function divisor(weights: TokenField, level: string): number {
  const mean = level === "sequence" ? weights.mean().mean() : weights.sum().sum() / (weights.count().sum() + EPSILON);
  return mean > EPSILON ? mean : 1;
}

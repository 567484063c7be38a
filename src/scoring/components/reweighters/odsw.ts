import { z } from "zod";
import { defineReweighter } from "../define.js";

const CURRICULA = ["easy", "medium", "hard"] as const;
type Curriculum = (typeof CURRICULA)[number];

/**
 * Online difficulty soft weighting: a curriculum over the prompts' solve rates.
 *
 * c(q) = cos((q − 0.5)π), 0 at both ends. `easy`: 1 if q > 0.5, else c(q); `medium`: c(q); `hard`: c(q) if q > 0.5, else 1, but
 * all_false_coef at q = 0. `binary`: 1 in [0.5, 1] (easy), [0.25, 0.75] (medium), (0, 0.5] (hard), else 0. `(rows,)` → `(rows,)` in [0, 1].
 * Rates are compared as float32. Nothing of that difficulty → all 0, flagged as all_zero.
 *
 * Example: q = 0, .25, .5, .75, 1: easy 0, .707107, 1, 1, 1; medium 0, .707107, 1, .707107, 0; hard .25, 1, 1, .707107, 0.
 * Source: arXiv 2507.22607 (VL-Cogito).
 */
export const odsw = defineReweighter({
  name: "odsw",
  accepts: "row",
  rows: "independent",
  params: z.strictObject({
    curriculum: z.enum(CURRICULA).default("medium"),
    shape: z.enum(["soft", "binary"]).default("soft"),
    all_false_coef: z.number().min(0).max(1).default(0.25),
  }),
  doc: {
    summary: "Weights prompts by solve rate: easy, medium or hard ones first.",
    formula:
      "c(q) = cos((q - 0.5) pi)\neasy: 1 if q > 0.5 else c(q)\nmedium: c(q)\nhard: c(q) if q > 0.5 else 1, all_false_coef at q = 0\nbinary: 1 in [0.5, 1] (easy), [0.25, 0.75] (medium), (0, 0.5] (hard), else 0",
    score: "the group's solve rate q in [0, 1] (group_solve_rate)",
    edges: [
      "q = 0 and q = 1 weigh 0 where c applies, exactly",
      "rates are compared as float32",
      "no prompt of that difficulty: all weights are 0, flagged as all_zero",
      "the authors move from easy to medium to hard during a training run: mount anew for each",
    ],
    params: {
      curriculum: "easy, medium or hard prompts first",
      shape: "soft (cosine) or binary (0/1)",
      all_false_coef: "weight of prompts that no response solved, with curriculum hard and shape soft, in [0, 1]",
    },
    source: { ref: "arXiv 2507.22607", verified: "authors' code read, fixture E9 recomputed" },
  },
  act: (rate, _batch, { params: { curriculum, shape, all_false_coef } }) =>
    rate.map((value) => {
      const q = Math.fround(value);
      return shape === "binary" ? binary(curriculum, q) : soft(curriculum, q, value, all_false_coef);
    }),
});

function soft(curriculum: Curriculum, q: number, value: number, allFalse: number): number {
  if (curriculum === "easy" && q > 0.5) return 1;
  if (curriculum === "hard" && q <= 0) return allFalse;
  if (curriculum === "hard" && q <= 0.5) return 1;
  // cos(π/2) is 6e-17, not 0, and outside [0, 1] the bump would turn negative.
  return q <= 0 || q >= 1 ? 0 : Math.cos((value - 0.5) * Math.PI);
}

function binary(curriculum: Curriculum, q: number): number {
  if (curriculum === "easy") return Number(q >= 0.5 && q <= 1);
  if (curriculum === "medium") return Number(q >= 0.25 && q <= 0.75);
  return Number(q > 0 && q <= 0.5);
}

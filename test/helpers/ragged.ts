import { seededRng } from "../../src/scoring/batch/rng.js";

/** Rows of several lengths with holes in the mask, padding rows and one that is fully masked. */
export function raggedStep(seed: number, rows = 24, width = 9) {
  const random = seededRng("ragged", seed);
  const matrix = (make: (row: number, token: number) => number): number[][] =>
    Array.from({ length: rows }, (_, i) => Array.from({ length: width }, (_, t) => make(i, t)));
  const lengths = Array.from({ length: rows }, () => 1 + Math.floor(random() * width));
  const response_mask = matrix((i, t) => Number(t < lengths[i]! && i !== 3 && (t === 0 || random() > 0.2)));
  const within = (value: () => number) => matrix((i, t) => (t < lengths[i]! ? value() : 0));
  return {
    fields: {
      response_mask,
      advantages: within(() => random() * 4 - 2),
      old_log_probs: within(() => -random() * 3),
      rm_scores: matrix((i, t) => (t === 0 && i % 3 !== 0 ? random() * 1.5 : 0)),
      uid: Array.from({ length: rows }, (_, i) => `prompt-${Math.floor(i / 4)}`),
    },
    is_padding: Array.from({ length: rows }, (_, i) => i >= rows - 2),
  };
}

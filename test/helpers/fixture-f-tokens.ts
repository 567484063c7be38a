import { fakeBatch } from "../../src/testing.js";
import { fixtureF, recordedF } from "./fixture-f.js";

/** Fixture F's token entropies, and its ratios between training policy and rollout engine. */
export const entropyF = [
  [0.1, 0.9, 1.6, 1],
  [0.4, 2, 0.8],
  [0.7, 0.7],
  [1.2, 0.6, 0.7, 0],
  [1.1],
  [0.8, 0.1, 1.3],
  [1.5, 0.9, 0.3, 0.5],
  [0.6, 2.2],
];
export const ratioF = [[1, 1, 2, 0.5], [3, 1, 1], [1, 4], [0.25, 1, 1, 1], [1], [0.5, 2, 1], [1, 1, 1, 1], [2.5, 0.4]];

/** Fixture F's fields, with entropy, the rollout engine's log-probs and a reference policy's as well. */
export function fieldsWithTokensF() {
  const { fields } = recordedF();
  const old = fixtureF.probabilities.map((row) => row.map(Math.log));
  return {
    ...(fields as Record<string, number[][]>),
    uid: fixtureF.uid,
    entropy: entropyF,
    rollout_log_probs: old.map((row, i) => row.map((value, t) => value - Math.log(ratioF[i]![t]!))),
    ref_log_prob: old.map((row) => row.map((value, t) => value + (t - 1) / 10)),
  };
}

export function batchWithTokensF() {
  return fakeBatch(fieldsWithTokensF());
}

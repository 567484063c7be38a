import { rewardGap } from "./mixers/reward-gap.js";
import { staticMixer } from "./mixers/static.js";
import { advantageReweight } from "./reweighters/advantage-reweight.js";
import { difficultyBand } from "./reweighters/difficulty-band.js";
import { perAdvantage } from "./reweighters/per-advantage.js";
import { softmax } from "./reweighters/softmax.js";
import { advantageMagnitude } from "./scorers/advantage-magnitude.js";
import { groupSolveRate } from "./scorers/group-solve-rate.js";
import { rewardDifficulty } from "./scorers/reward-difficulty.js";
import { tokenProb } from "./scorers/token-prob.js";
import { gfpo } from "./selectors/gfpo.js";
import { maxVariance } from "./selectors/max-variance.js";
import { thresholdBand } from "./selectors/threshold-band.js";
import { topkFraction } from "./selectors/topk-fraction.js";
import type { Component } from "./types.js";

/** Every built-in component. Importing a component's file has no effect: only this list makes it known. */
export const BUILT_INS: readonly Component[] = [
  // scorers
  advantageMagnitude,
  rewardDifficulty,
  groupSolveRate,
  tokenProb,
  // reweighters
  softmax,
  difficultyBand,
  advantageReweight,
  perAdvantage,
  // selectors
  thresholdBand,
  topkFraction,
  gfpo,
  maxVariance,
  // mixers
  rewardGap,
  staticMixer,
];

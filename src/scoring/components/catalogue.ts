import type { Component } from "./component-types.js";
import { dads } from "./mixers/dads.js";
import { doremi } from "./mixers/doremi.js";
import { dumpUcb } from "./mixers/dump-ucb.js";
import { exp3 } from "./mixers/exp3.js";
import { linearSchedule } from "./mixers/linear-schedule.js";
import { plr } from "./mixers/plr.js";
import { rewardGap } from "./mixers/reward-gap.js";
import { staticMixer } from "./mixers/static.js";
import { tscl } from "./mixers/tscl.js";
import { vcrlMix } from "./mixers/vcrl-mix.js";
import { adarft } from "./policies/adarft.js";
import { difficultyPool } from "./policies/difficulty-pool.js";
import { greso } from "./policies/greso.js";
import { learnabilityPool } from "./policies/learnability-pool.js";
import { mopps } from "./policies/mopps.js";
import { advantageReweight } from "./reweighters/advantage-reweight.js";
import { awr } from "./reweighters/awr.js";
import { deltaL } from "./reweighters/delta-l.js";
import { difficultyBand } from "./reweighters/difficulty-band.js";
import { difficultyWeight } from "./reweighters/difficulty-weight.js";
import { entropyTopkReweighter } from "./reweighters/entropy-topk.js";
import { grpoLead } from "./reweighters/grpo-lead.js";
import { gtpo } from "./reweighters/gtpo.js";
import { lengthWeight } from "./reweighters/length-weight.js";
import { maxrl } from "./reweighters/maxrl.js";
import { odsw } from "./reweighters/odsw.js";
import { overlongFilter } from "./reweighters/overlong-filter.js";
import { perAdvantage } from "./reweighters/per-advantage.js";
import { pfPpo } from "./reweighters/pf-ppo.js";
import { psrNsr } from "./reweighters/psr-nsr.js";
import { raft } from "./reweighters/raft.js";
import { rolloutIs } from "./reweighters/rollout-is.js";
import { softmax } from "./reweighters/softmax.js";
import { stalenessDecay } from "./reweighters/staleness-decay.js";
import { vespo } from "./reweighters/vespo.js";
import { advantageCov } from "./scorers/advantage-cov.js";
import { advantageMagnitude } from "./scorers/advantage-magnitude.js";
import { binaryKl } from "./scorers/binary-kl.js";
import { column } from "./scorers/column.js";
import { difficulty } from "./scorers/difficulty.js";
import { geoIsRatio } from "./scorers/geo-is-ratio.js";
import { groupMeanReward } from "./scorers/group-mean-reward.js";
import { groupRewardVariance } from "./scorers/group-reward-variance.js";
import { groupSolveRate } from "./scorers/group-solve-rate.js";
import { isRatio } from "./scorers/is-ratio.js";
import { learnability } from "./scorers/learnability.js";
import { lengthEfficiency } from "./scorers/length-efficiency.js";
import { multProbError } from "./scorers/mult-prob-error.js";
import { probDiff } from "./scorers/prob-diff.js";
import { refKl } from "./scorers/ref-kl.js";
import { responseLength } from "./scorers/response-length.js";
import { rewardDifficulty } from "./scorers/reward-difficulty.js";
import { segmentIsRatio } from "./scorers/segment-is-ratio.js";
import { seqEntropy } from "./scorers/seq-entropy.js";
import { seqIsRatio } from "./scorers/seq-is-ratio.js";
import { signedAdvantage } from "./scorers/signed-advantage.js";
import { staleness } from "./scorers/staleness.js";
import { tokenEntropy } from "./scorers/token-entropy.js";
import { tokenProb } from "./scorers/token-prob.js";
import { truncated } from "./scorers/truncated.js";
import { advantageGate } from "./selectors/advantage-gate.js";
import { bestAndWorst } from "./selectors/best-and-worst.js";
import { clipCov } from "./selectors/clip-cov.js";
import { dapoFilter } from "./selectors/dapo-filter.js";
import { difficultyFilter } from "./selectors/difficulty-filter.js";
import { entropyTopkSelector } from "./selectors/entropy-topk-selector.js";
import { gfpo } from "./selectors/gfpo.js";
import { gfpoAdaptive } from "./selectors/gfpo-adaptive.js";
import { m2po } from "./selectors/m2po.js";
import { maxVariance } from "./selectors/max-variance.js";
import { opsm } from "./selectors/opsm.js";
import { signedGate } from "./selectors/signed-gate.js";
import { stalenessCutoff } from "./selectors/staleness-cutoff.js";
import { thresholdBand } from "./selectors/threshold-band.js";
import { topkFraction } from "./selectors/topk-fraction.js";
import { tvGate } from "./selectors/tv-gate.js";
import { veto } from "./selectors/veto.js";

/** Every built-in component. Importing a component's file has no effect: only this list makes it known. */
export const BUILT_INS: readonly Component[] = [
  // scorers
  advantageMagnitude,
  rewardDifficulty,
  groupSolveRate,
  tokenProb,
  responseLength,
  lengthEfficiency,
  groupMeanReward,
  groupRewardVariance,
  learnability,
  truncated,
  signedAdvantage,
  tokenEntropy,
  seqEntropy,
  isRatio,
  seqIsRatio,
  geoIsRatio,
  refKl,
  probDiff,
  binaryKl,
  segmentIsRatio,
  multProbError,
  advantageCov,
  staleness,
  difficulty,
  column,
  // reweighters
  softmax,
  difficultyBand,
  advantageReweight,
  perAdvantage,
  awr,
  raft,
  pfPpo,
  psrNsr,
  grpoLead,
  odsw,
  deltaL,
  overlongFilter,
  entropyTopkReweighter,
  gtpo,
  rolloutIs,
  stalenessDecay,
  maxrl,
  vespo,
  lengthWeight,
  difficultyWeight,
  // selectors
  thresholdBand,
  topkFraction,
  gfpo,
  gfpoAdaptive,
  maxVariance,
  difficultyFilter,
  dapoFilter,
  bestAndWorst,
  advantageGate,
  entropyTopkSelector,
  stalenessCutoff,
  opsm,
  tvGate,
  signedGate,
  veto,
  m2po,
  clipCov,
  // mixers
  rewardGap,
  staticMixer,
  dumpUcb,
  tscl,
  dads,
  exp3,
  plr,
  doremi,
  vcrlMix,
  linearSchedule,
  // pre-rollout policies
  greso,
  adarft,
  difficultyPool,
  learnabilityPool,
  mopps,
];

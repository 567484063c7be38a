/** Trainers whose settings readers know. */
export const KNOWN_TRAINERS = ["verl", "TRL", "slime", "OpenRLHF", "others"] as const;
type KnownTrainer = (typeof KNOWN_TRAINERS)[number];

/** One way to meet a problem: components by name, scorer first, and what other trainers call the same. */
export interface Remedy {
  readonly does: string;
  readonly components: readonly string[];
  /** File in config/recipes. */
  readonly recipe?: string;
  readonly settings?: Readonly<Partial<Record<KnownTrainer, string>>>;
}

export interface Use {
  readonly problem: string;
  readonly remedies: readonly Remedy[];
}

/**
 * Components by what one needs them for. Names of settings as they stand in verl 0.9.1 and, of the summer of 2026, in TRL, slime, OpenRLHF,
 * prime-rl, SkyRL, NeMo-RL, ROLL, AReaL and TorchRL.
 */
export const USES: readonly Use[] = [
  {
    problem: "sampler and trainer disagree about probabilities",
    remedies: [
      {
        does: "weigh tokens or responses by the ratio, truncated, masked or clipped",
        components: ["is_ratio", "rollout_is"],
        recipe: "verl-decoupled-token-is.yaml",
        settings: {
          verl: "algorithm.rollout_correction (rollout_is, rollout_rs)",
          TRL: "vllm_importance_sampling_mode",
          slime: "--use-tis, --tis-clip, --tis-clip-low",
          OpenRLHF: "--algo.advantage.is_correction_type",
          others: "SkyRL tis_ratio_type; ROLL train_infer_correction",
        },
      },
      {
        does: "one ratio for each turn",
        components: ["segment_is_ratio", "rollout_is"],
        recipe: "roll-segment.yaml",
        settings: { others: "ROLL weight_type: segment" },
      },
      {
        does: "drop a response for one token far off",
        components: ["is_ratio", "veto"],
        recipe: "slime-mis.yaml",
        settings: { slime: "rs_veto_threshold (mis.yaml)", others: "SkyRL outlier_token_is_threshold_low, _high" },
      },
      {
        does: "drop responses that are far off on average",
        components: ["mult_prob_error", "threshold_band"],
        recipe: "nemo-logprob-error.yaml",
        settings: { others: "NeMo-RL seq_logprob_error_threshold" },
      },
      {
        does: "drop tokens whose probability differs too much, in either direction",
        components: ["prob_diff", "tv_gate"],
        settings: { others: "prime-rl loss ipo (ipo_threshold); ROLL diff_low, diff_high" },
      },
      {
        does: "drop tokens that moved too far in the direction that their advantage pushes (DPPO)",
        components: ["prob_diff", "binary_kl", "signed_gate"],
        recipe: "prime-rl-dppo.yaml",
        settings: { verl: "loss_mode dppo_tv, dppo_kl", others: "prime-rl dppo_mask_low, dppo_mask_high" },
      },
      {
        does: "drop the tokens of largest squared log ratio until their mean is small",
        components: ["is_ratio", "m2po"],
        settings: { others: "AReaL m2_threshold" },
      },
      {
        does: "a soft trust region over whole responses",
        components: ["seq_is_ratio", "vespo"],
        settings: { TRL: "loss_type vespo (vespo_k_pos …)" },
      },
    ],
  },
  {
    problem: "my rollouts are stale",
    remedies: [
      {
        does: "drop responses that are too many updates old",
        components: ["staleness", "staleness_cutoff"],
        recipe: "async-staleness.yaml",
        settings: {
          verl: "trainer.v1.sampler.max_off_policy_threshold",
          TRL: "AsyncGRPO max_staleness",
          others: "prime-rl max_off_policy_steps; SkyRL max_staleness_steps; NeMo-RL max_trajectory_age_steps",
        },
      },
      {
        does: "weigh them less the older they are",
        components: ["staleness", "staleness_decay"],
        recipe: "async-staleness.yaml",
        settings: { others: "TorchRL StalenessAwareSampler" },
      },
      {
        does: "drop bad responses that the policy would hardly give any more",
        components: ["geo_is_ratio", "opsm"],
        recipe: "opsm.yaml",
        settings: { TRL: "off_policy_mask_threshold", slime: "--use-opsm, --opsm-delta" },
      },
      {
        does: "a smaller step where few samples count: no component, stepScale (Python: step_scale) of a step's result",
        components: [],
        settings: { others: "VCPO (arXiv 2602.17616)" },
      },
    ],
  },
  {
    problem: "groups are all right or all wrong",
    remedies: [
      {
        does: "drop groups of equal rewards",
        components: ["reward_difficulty", "dapo_filter"],
        recipe: "dapo.yaml",
        settings: {
          verl: "algorithm.filter_groups",
          slime: "--dynamic-sampling-filter-path (check_reward_nonzero_std)",
          OpenRLHF: "--algo.dynamic_filtering_enable",
        },
      },
      {
        does: "drop such groups, but let the last of them stay where too few rows would be left (option keep_when_short)",
        components: ["reward_difficulty", "dapo_filter"],
        recipe: "dapo-floor.yaml",
        settings: { slime: "check_reward_nonzero_std_with_fallback (keep_when_insufficient)" },
      },
      {
        does: "drop groups without any advantage",
        components: ["signed_advantage", "advantage_gate"],
        settings: { others: "prime-rl AdvRangeGate" },
      },
      {
        does: "keep prompts within a band of solve rates",
        components: ["group_solve_rate", "difficulty_filter", "threshold_band"],
        recipe: "select.yaml",
        settings: { OpenRLHF: "--algo.dynamic_filtering_range" },
      },
      {
        does: "keep the subset of a group with the largest variance",
        components: ["reward_difficulty", "max_variance", "best_and_worst"],
        settings: { others: "PODS (arXiv 2504.13818)" },
      },
      {
        does: "do not sample such prompts at all",
        components: ["greso", "learnability_pool", "difficulty_pool"],
        recipe: "curriculum-greso.yaml",
        settings: { others: "prime-rl DifficultyPoolSampler" },
      },
    ],
  },
  {
    problem: "prompts are too easy or too hard",
    remedies: [
      {
        does: "weigh by the prompt's difficulty",
        components: ["group_solve_rate", "difficulty", "difficulty_weight", "difficulty_band", "odsw", "grpo_lead"],
        settings: { others: "ROLL difficulty_loss_weight" },
      },
      {
        does: "more weight to prompts that are rarely solved",
        components: ["reward_difficulty", "maxrl"],
        recipe: "maxrl.yaml",
        settings: { others: "prime-rl algo max_rl" },
      },
      {
        does: "offer prompts of the difficulty that suits the policy",
        components: ["adarft", "mopps", "learnability_pool"],
        recipe: "curriculum-mopps.yaml",
        settings: { others: "AdaRFT (arXiv 2504.05520); MoPPS bandit_target_mean" },
      },
    ],
  },
  {
    problem: "responses run away in length",
    remedies: [
      {
        does: "no weight for what was cut off",
        components: ["truncated", "overlong_filter"],
        settings: { TRL: "mask_truncated_completions" },
      },
      {
        does: "keep the most concise responses of each prompt",
        components: ["reward_difficulty", "gfpo", "gfpo_adaptive"],
        settings: { others: "GFPO (arXiv 2508.09726)" },
      },
      {
        does: "less weight to long responses",
        components: ["response_length", "delta_l", "length_weight"],
        settings: { others: "ROLL length_loss_weight" },
      },
      {
        does: "weight in proportion to length (LUSPO): no component, a setting of the loss",
        components: [],
        settings: { verl: "loss_agg_mode seq-mean-token-sum", TRL: "loss_type luspo" },
      },
    ],
  },
  {
    problem: "the policy's entropy collapses",
    remedies: [
      {
        does: "train on the most uncertain tokens only",
        components: ["token_entropy", "entropy_topk"],
        settings: { TRL: "top_entropy_quantile" },
      },
      {
        does: "drop a few tokens that lower entropy most",
        components: ["advantage_cov", "clip_cov"],
        settings: { verl: "loss_mode clip_cov (clip_cov_ratio …)" },
      },
      { does: "weigh tokens by entropy, by the outcome", components: ["token_entropy", "gtpo"] },
      {
        does: "less weight to what is right already",
        components: ["reward_difficulty", "psr_nsr"],
        settings: { others: "W-REINFORCE (arXiv 2506.01347)" },
      },
    ],
  },
  {
    problem: "unlikely tokens drive the update",
    remedies: [
      {
        does: "weigh tokens by their probability",
        components: ["token_prob", "advantage_reweight"],
        recipe: "token.yaml",
      },
    ],
  },
  {
    problem: "some responses matter more than others",
    remedies: [
      {
        does: "by the size of the advantage",
        components: ["advantage_magnitude", "softmax", "per_advantage", "topk_fraction"],
        recipe: "reweight.yaml",
      },
      { does: "exponentially by the advantage, or the reward", components: ["signed_advantage", "awr"] },
      { does: "only the best of each prompt", components: ["reward_difficulty", "raft"] },
      {
        does: "by the reward, as policy filtration does",
        components: ["reward_difficulty", "pf_ppo"],
        settings: { verl: "algorithm.use_pf_ppo" },
      },
    ],
  },
  {
    problem: "domains progress unevenly",
    remedies: [
      {
        does: "draw more from domains that lag behind, or learn fastest",
        components: ["reward_gap", "tscl", "dump_ucb", "dads", "exp3", "plr", "doremi", "vcrl_mix"],
      },
      { does: "fixed shares, or a schedule", components: ["static", "linear_schedule"] },
    ],
  },
];

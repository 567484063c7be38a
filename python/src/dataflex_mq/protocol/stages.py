"""When a signal exists, in the order of a step."""

STAGES = ("pre_rollout", "post_reward", "post_advantage")

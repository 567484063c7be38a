"""When a signal exists, in the order of a step."""

STAGES = ("pre_rollout", "post_reward", "post_advantage")


def table_of(stage: str) -> str:
    """Both later stages are about the same rows, `responses`; `pre_rollout` is about `prompts`."""
    return "prompts" if stage == "pre_rollout" else "responses"

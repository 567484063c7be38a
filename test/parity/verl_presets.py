"""
What verl's own presets of rollout correction compute, in float64.

Usage: python test/parity/verl_presets.py CASES.json ANSWERS.json, with verl and torch installed.
CASES.json: {"presets": [names], "steps": [{"mask", "old", "rollout"}]}, padded matrices. ANSWERS.json: by preset, by step, row by row, the weight of each
unmasked token: verl's rollout_is_weights (1 without any), 0 where verl rejected the token. null: all are 0, and verl's metrics fail.
"""

from __future__ import annotations

import json
import sys

import torch
from verl.trainer.config.algorithm import RolloutCorrectionConfig
from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_and_rejection_mask


def weigh(preset: str, step: dict) -> list[list[float]] | None:
    config = getattr(RolloutCorrectionConfig, preset)()
    assert not config.bypass_mode
    mask = torch.tensor(step["mask"], dtype=torch.float64)
    old, rollout = (torch.tensor(step[name], dtype=torch.float64) for name in ("old", "rollout"))
    settings = dict(
        old_log_prob=old,
        rollout_log_prob=rollout,
        response_mask=mask,
        rollout_is=config.rollout_is,
        rollout_is_threshold=config.rollout_is_threshold,
        rollout_is_batch_normalize=config.rollout_is_batch_normalize,
        rollout_rs=config.rollout_rs,
        rollout_rs_threshold=config.rollout_rs_threshold,
    )
    try:
        weights, kept, _ = compute_rollout_correction_and_rejection_mask(**settings)
    except ZeroDivisionError:
        # verl's effective sample size, a metric, divides by 0 where it gave every token weight 0.
        return None
    made = torch.ones_like(mask) if weights is None else weights.batch["rollout_is_weights"]
    return [row[own].tolist() for row, own in zip(made * kept, mask.bool(), strict=True)]


def main() -> None:
    torch.set_num_threads(1)
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    # The presets that there are, so that one that a later verl adds is missed by name.
    known = [name for name in dir(RolloutCorrectionConfig) if name.startswith("decoupled_")]
    weights = {preset: [weigh(preset, step) for step in cases["steps"]] for preset in cases["presets"]}
    with open(sys.argv[2], "w") as file:
        json.dump({"known": sorted(known), "weights": weights}, file)


if __name__ == "__main__":
    main()

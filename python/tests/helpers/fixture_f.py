"""Eight responses in two groups with hand-checkable numbers: solve rates 1/2 and 3/4, 23 live tokens, prefix masks."""

from __future__ import annotations

from typing import Any

import numpy as np

UID = np.array(["a"] * 4 + ["b"] * 4, dtype=object)
REWARDS = [1, 0, 1, 0, 1, 1, 1, 0]
# GRPO advantages of the rewards (unbiased deviation, 1e-6).
ADVANTAGES = [0.8660239, -0.8660239, 0.8660239, -0.8660239, 0.499999, 0.499999, 0.499999, -1.499997]
PROBABILITIES = [
    [0.9, 0.5, 0.2, 0.4],
    [0.8, 0.1, 0.6],
    [0.5, 0.5],
    [0.25, 0.75, 0.5, 1],
    [0.3],
    [0.6, 0.9, 0.3],
    [0.2, 0.4, 0.8, 0.6],
    [0.7, 0.1],
]
LENGTHS = np.array([len(row) for row in PROBABILITIES])
MASK = np.arange(4) < LENGTHS[:, None]


def padded(rows: list[list[float]]) -> np.ndarray:
    """(8, 4) float32, 0 behind the responses."""
    out = np.zeros((8, 4), dtype=np.float32)
    out[MASK] = np.concatenate([np.asarray(row, dtype=np.float32) for row in rows])
    return out


def fields() -> dict[str, Any]:
    """What a trainer has of fixture F, padded."""
    rewards = np.zeros((8, 4), dtype=np.float32)
    rewards[np.arange(8), LENGTHS - 1] = REWARDS
    return {
        "rm_scores": rewards,
        "response_mask": MASK.astype(np.int64),
        "advantages": np.where(MASK, np.array(ADVANTAGES, dtype=np.float32)[:, None], np.float32(0)),
        "old_log_probs": padded([np.log(row).tolist() for row in PROBABILITIES]),
        "uid": UID,
    }


def block(mechanism: str, scorer: Any, actuator: Any, **more: Any) -> dict[str, Any]:
    """A `dataflex:` block; components are a name, or (name, params)."""
    parts = {"scorer": scorer, "actuator": actuator}
    named = {key: (part, {}) if isinstance(part, str) else part for key, part in parts.items() if part is not None}
    return {
        "mechanism": mechanism,
        **{key: {"name": name, "params": params} for key, (name, params) in named.items()},
        **more,
    }


SOFTMAX = block("reweight", "advantage_magnitude", "softmax")
SOFTMAX_WEIGHTS = [1.004326] * 4 + [0.696485] * 3 + [1.893240]
SELECT = block("select", "group_solve_rate", ("threshold_band", {"low": 0.25, "high": 0.6}))
TOKENS = block("reweight", "token_prob", ("advantage_reweight", {"alpha": 0.5}))
# Row after row over the live tokens.
TOKEN_WEIGHTS = [
    *[1.252149, 0.988539, 0.790831, 0.922636, 1.186246, 0.724928, 1.054441, 0.988539, 0.988539, 0.823782, 1.153295],
    *[0.988539, 1.318052, 0.856734, 1.054441, 1.252149, 0.856734, 0.790831, 0.922636, 1.186246, 1.054441, 1.120344],
    0.724928,
]

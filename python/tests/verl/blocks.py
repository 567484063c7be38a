"""`dataflex:` blocks that several tests of the loop use."""

from __future__ import annotations

from typing import Any

SOFTMAX = {"mechanism": "reweight", "scorer": {"name": "advantage_magnitude"}, "actuator": {"name": "softmax"}}
MIX = {"mechanism": "mix", "domains": ["easy", "hard"], "actuator": {"name": "reward_gap"}}
# Scored early, by rewards, while verl does its other passes. The toy loses responses, as agent loops do.
BAND = {
    "mechanism": "select",
    "scorer": {"name": "group_solve_rate"},
    "actuator": {"name": "threshold_band", "params": {"low": 0.2, "high": 0.7}},
    "on_incomplete_group": "score",
}
MIX_AND_WEIGH = {"pipelines": {"mix": MIX, "size": SOFTMAX}}


def at(service: Any, run_id: str, dataflex: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The block with the service's address."""
    return {**dataflex, "redis_url": service.url, "run_id": run_id, **options}

"""A step's result for a logger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..errors import DataflexError
from .outcomes import PipelineResult

STATISTICS = ("mean", "std", "min", "max", "ess_ratio", "kept_ratio", "zero_ratio")


class Measured(Protocol):
    """A `StepResult`."""

    waited: float
    neutral: DataflexError | None
    pipelines: Mapping[str, PipelineResult]

    @property
    def statistics(self) -> dict[str, Any] | None: ...


def step_metrics(result: Measured, prefix: str) -> dict[str, float]:
    """
    One flat dictionary of numbers, as W&B, TensorBoard and MLflow take it, under `prefix`/: `wait_s` and `neutral` (1: trained without
    weights); `loss/…`, statistics of what the loss takes, with the shares that clip moved; `<pipeline>/…`, each pipeline's own statistics,
    what its components measured, and a mixer's `share/<domain>`.
    """
    loss = result.statistics
    found = {"wait_s": result.waited, "neutral": float(result.neutral is not None)}
    if loss is not None:
        clipped = {f"clipped_{side}": loss["clipped"][side] for side in ("low", "high")}
        found |= _under("loss", {**_statistics(loss["stats"]), **clipped})
    for name, pipeline in result.pipelines.items():
        shares = _under("share", pipeline.proportions or {})
        found |= _under(name, {**_statistics(pipeline.header.get("stats")), **pipeline.metrics, **shares})
    return _under(prefix, found)


def _statistics(stats: Mapping[str, Any] | None) -> dict[str, float]:
    return {} if stats is None else {name: float(stats[name]) for name in STATISTICS}


def _under(prefix: str, numbers: Mapping[str, float]) -> dict[str, float]:
    return {f"{prefix}/{name}": float(value) for name, value in numbers.items()}

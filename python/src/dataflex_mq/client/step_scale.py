"""What a trainer may multiply its learning rate by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..sentences import error_of
from .step_result import StepResult


def step_scale(result: StepResult, pipeline: str | None = None) -> float:
    """
    The square root of (effective sample size / n), in [0, 1], of the composed weights, or of one pipeline's (a correction's, say, without
    the selections beside it). 1 where all weights are equal, where nothing weighs the loss, and for a neutral step; 0 where every weight is
    0. It is a number, applied nowhere: use it, clip it, or only plot it.

    n counts rows where the weights are of rows, else tokens. Source: VCPO, arXiv 2602.17616, whose weights are those of whole responses;
    the square root is for Adam and its kin. The authors' code divides the share by that of on-policy steps first.

    Raises USAGE for a pipeline that was not delivered.
    """
    if result.neutral is not None:
        return 1.0
    stats = _composed(result) if pipeline is None else _of(result, pipeline)
    return 1.0 if stats is None else math.sqrt(stats["ess_ratio"])


def _composed(result: StepResult) -> Mapping[str, Any] | None:
    report = result.statistics
    return None if report is None else report["stats"]


def _of(result: StepResult, pipeline: str) -> Mapping[str, Any] | None:
    found = result.pipelines.get(pipeline)
    if found is None:
        raise error_of("USAGE.undelivered", pipeline=pipeline, delivered=", ".join(result.pipelines) or "none")
    return found.header.get("stats")

"""A step's weights as verl's metrics."""

from __future__ import annotations

from typing import Any

import torch

from ..client.step_result import StepResult


def weight_metrics(weights: Any, mask: Any) -> dict[str, float]:
    """
    weights, mask: jagged (rows, j). Over live rows, a row's weight being the mean over its live tokens: `dataflex/weight_mean`,
    `weight_std` (population), `kept_frac` (weight above 0), `effective_sample_frac` (Kish: (Σw)² / (n Σw²)).
    """
    lengths = mask.offsets().diff()
    live = (mask.values() == 1).to(torch.float64)
    row_of = torch.repeat_interleave(torch.arange(lengths.shape[0]), lengths)
    tokens = torch.zeros(lengths.shape[0], dtype=torch.float64).index_add_(0, row_of, live)
    sums = torch.zeros_like(tokens).index_add_(0, row_of, weights.values().to(torch.float64) * live)
    rows = sums[tokens > 0] / tokens[tokens > 0]
    if rows.numel() == 0:
        return {}
    squares = float((rows * rows).sum())
    effective = float(rows.sum()) ** 2 / (rows.numel() * squares) if squares > 0 else 0.0
    return {
        "dataflex/weight_mean": float(rows.mean()),
        "dataflex/weight_std": float(rows.std(correction=0)),
        "dataflex/kept_frac": float((rows > 0).to(torch.float64).mean()),
        "dataflex/effective_sample_frac": effective,
    }


def result_metrics(result: StepResult, hidden: float | None) -> dict[str, float]:
    """
    `timing_s/dataflex_wait`: seconds that the trainer stood still. `timing_s/dataflex_hidden`: seconds between submitting and collecting,
    in which scoring ran beside verl's own passes. `dataflex/fallback`: 1 for a step that trained without weights.
    """
    metrics = {"timing_s/dataflex_wait": result.waited, "dataflex/fallback": float(result.neutral is not None)}
    if hidden is not None:
        metrics["timing_s/dataflex_hidden"] = hidden
    return metrics

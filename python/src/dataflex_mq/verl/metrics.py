"""A step's weights as verl's metrics."""

from __future__ import annotations

import re
from typing import Any

import torch

from ..client.step_result import StepResult

# Words by which verl merges the metrics of a step's updates, wherever they stand in a name; `lr` only at its end.
_WORDS = re.compile(r"(?<=m)(?=ax|in)|(?<=s)(?=um)|(?<=t)(?=otal)|(?<=l)(?=r$)", re.IGNORECASE)

# Of a pipeline's own weights: verl's name → the service's.
_PIPELINE = {
    "weight_mean": "mean",
    "weight_std": "std",
    "kept_frac": "kept_ratio",
    "effective_sample_frac": "ess_ratio",
}


def metric_part(name: str) -> str:
    """
    A domain's or pipeline's name as a part of a metric's. verl takes the largest of what has "max" in its name, the sum of "sum" …: such
    a word gets a hyphen behind its first letter. Example: "gemini" → "gem-ini".
    """
    return _WORDS.sub("-", name)


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


def pipeline_metrics(result: StepResult) -> dict[str, float]:
    """
    Each pipeline's own, before they are multiplied: `dataflex/<pipeline>/weight_mean`, …; and what its components measured. Over live rows,
    of a pipeline that weighs tokens over live tokens.
    """
    metrics: dict[str, float] = {}
    for name, found in result.pipelines.items():
        prefix = f"dataflex/{metric_part(name)}"
        stats = found.header.get("stats") or {}
        own = {ours: stats[theirs] for ours, theirs in _PIPELINE.items() if theirs in stats}
        for metric, value in {**own, **found.metrics}.items():
            # What follows a slash is a domain.
            kind, *of = metric.split("/", 1)
            metrics["/".join([prefix, kind, *map(metric_part, of)])] = float(value)
    return metrics

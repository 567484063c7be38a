"""The composition of a step as it went to the loss, for the service's metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .compose import RowWeights, Weights


def combined_report(
    weights: Weights, joined: Weights, counts: np.ndarray, bounds: Sequence[float] | None
) -> dict[str, Any] | None:
    """
    Statistics of composed weights over live rows (row weights) or live tokens, float64; None when no row is live. `joined`: before
    clipping. `counts` (rows,): live tokens, 0 for padding. `clipped`: shares of elements that the clip moved to its lower and its upper
    bound.
    """
    values = weights.values.astype(np.float64)
    live = counts > 0
    if isinstance(weights, RowWeights):
        kept = int(np.count_nonzero(values[live]))
        values = values[live]
    else:
        lengths = np.diff(weights.offsets)
        row = np.repeat(np.arange(len(counts)), lengths)
        kept = len(np.unique(row[(values != 0) & live[row]]))
        values = values[live[row]]
    if len(values) == 0:
        return None
    mean, std = float(values.mean()), float(values.std())
    stats = {
        "n": len(values),
        "mean": mean,
        "std": std,
        "min": float(values.min()),
        "max": float(values.max()),
        "ess_ratio": 0 if mean == 0 else 1 / (1 + math.pow(std / mean, 2)),
        "kept_ratio": kept / int(np.count_nonzero(live)),
        "zero_ratio": float(np.count_nonzero(values == 0)) / len(values),
    }
    low, high = (0, 0) if bounds is None else _moved(joined.values, bounds)
    clipped = {"low": low / len(values), "high": high / len(values)}
    return {"level": "sample" if isinstance(weights, RowWeights) else "token", "stats": stats, "clipped": clipped}


def _moved(values: np.ndarray, bounds: Sequence[float]) -> tuple[int, int]:
    wide = values.astype(np.float64)
    return int(np.count_nonzero((wide > 0) & (wide < bounds[0]))), int(np.count_nonzero(wide > bounds[1]))

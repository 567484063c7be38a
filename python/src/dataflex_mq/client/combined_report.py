"""The composition of a step as it went to the loss: statistics for the trainer and for the service's metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compose import Composed, RowWeights, Weights


def combined_report(composed: Composed) -> dict[str, Any] | None:
    """
    `stats` of the composed weights and of the `product` of the pipelines before them, over live rows (level `sample`) or live tokens (level
    `token`), float64; `clipped`: shares of them that the clip raised and lowered. None when no row is live.
    """
    stats = _stats(composed.weights, composed.counts)
    if stats is None:
        return None
    before = _stats(composed.product, composed.product_counts)
    low, high = composed.clipped
    return {
        "level": "sample" if isinstance(composed.weights, RowWeights) else "token",
        "stats": stats,
        **({} if before is None else {"product": before}),
        "clipped": {"low": low / stats["n"], "high": high / stats["n"]},
    }


def _stats(weights: Weights, counts: np.ndarray) -> dict[str, Any] | None:
    values = weights.values.astype(np.float64)
    live = counts > 0
    if isinstance(weights, RowWeights):
        kept = int(np.count_nonzero(values[live]))
        values = values[live]
    else:
        nonzero = np.concatenate(([0], np.cumsum(values != 0)))[weights.offsets]
        kept = int(np.count_nonzero((np.diff(nonzero) > 0) & live))
        values = values[np.repeat(live, np.diff(weights.offsets))]
    if len(values) == 0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        # A product that a clip brings back may be infinite here.
        mean, std = float(values.mean()), float(values.std())
        ess_ratio = 0.0 if mean == 0 else float(1 / (1 + np.float64(std / mean) ** 2))
    return {
        "n": len(values),
        "mean": mean,
        "std": std,
        "min": float(values.min()),
        "max": float(values.max()),
        "ess_ratio": ess_ratio,
        "kept_ratio": kept / int(np.count_nonzero(live)),
        "zero_ratio": float(np.count_nonzero(values == 0)) / len(values),
    }

"""What the Python original or verl computes where this project answers otherwise on purpose; small inputs, each with its reason in the test."""

from __future__ import annotations

import torch

from .step import F64


def mean_one(weights: torch.Tensor) -> torch.Tensor:
    """Divided by the mean over every row, padding included, clamped at 1e-8."""
    return weights / weights.mean().clamp(min=1e-8)


def originals() -> dict[str, list[float]]:
    padded = torch.tensor([1.0, 1.0, 0.0, 0.0], dtype=F64)
    zeros = torch.zeros(4, dtype=F64)
    tenths = torch.tensor([0.1, 0.1, 0.1], dtype=F64)
    negative = torch.tensor([1.0, 2.0], dtype=F64)
    return {
        "softmax over padding": mean_one(torch.softmax(padded, dim=0) * 4).tolist(),
        "per_advantage of zeros": mean_one((zeros.abs() + 1e-8) ** 2).tolist(),
        "softmax below 0": mean_one(torch.softmax(negative / -1.0, dim=0)).tolist(),
        "deviation of three tenths": [float(tenths.std(unbiased=False))],
        "topk of ties": torch.topk(torch.tensor([0.0, 1, 1, 1, 1, 0]), 3).indices.tolist(),
    }

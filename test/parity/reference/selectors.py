"""Selectors: (step, scores, params) -> kept live rows (N,) or kept tokens (N, T), as bool."""

from __future__ import annotations

import torch
from torch import Tensor

from .reweighters import entropy_topk as entropy_weights
from .step import F64, Step, f32, ranked, share_of


def threshold_band(step: Step, s: Tensor, low: float = 0.0, high: float = 1.0, closed: str = "none") -> Tensor:
    x, lo, hi = f32(s), f32(low), f32(high)
    above = x >= lo if closed in ("both", "low") else x > lo
    below = x <= hi if closed in ("both", "high") else x < hi
    return above & below


def topk_fraction(step: Step, s: Tensor, fraction: float = 0.5, largest: bool = True) -> Tensor:
    rows = step.live.nonzero()[:, 0]
    keep = torch.zeros_like(step.live)
    keep[rows[ranked(s[rows], largest)[: share_of(fraction, rows.numel())]]] = True
    return keep


def gfpo(step: Step, s: Tensor, k: int = 8, metric: str = "efficiency") -> Tensor:
    length = step.tokens.clamp(min=1)
    value = s / length if metric == "efficiency" else -length
    keep = torch.zeros_like(step.live)
    for rows in step.groups():
        keep[rows[ranked(value[rows])[:k]]] = True
    return keep


def gfpo_adaptive(
    step: Step, s: Tensor, history: list[list[float]], k_hardest: int = 8, k_hard: int = 8, k_medium: int = 6, k_easy: int = 4,
    metric: str = "efficiency",
) -> Tensor:
    length = step.tokens.clamp(min=1)
    value = s / length if metric == "efficiency" else -length
    told = torch.tensor([mean for means in history for mean in means], dtype=F64)
    adapts = len(history) >= 10 and told.numel() >= 40
    limits = f32(torch.quantile(told, torch.tensor([0.25, 0.5, 0.75], dtype=F64))) if adapts else torch.empty(0, dtype=F64)
    means = f32(step.spread(s, torch.mean))
    keep = torch.zeros_like(step.live)
    for rows in step.groups():
        k = (k_hardest, k_hard, k_medium, k_easy)[int((means[rows[0]] > limits).sum())]
        keep[rows[ranked(value[rows])[: max(1, min(k, rows.numel() - 1))]]] = True
    return keep


def max_variance(step: Step, s: Tensor, keep_fraction: float = 0.5) -> Tensor:
    keep = torch.zeros_like(step.live)
    for rows in step.groups():
        size = rows.numel()
        n = share_of(keep_fraction, size)
        order = rows[ranked(s[rows], largest=False)]
        if n >= size:
            keep[rows] = True
            continue
        best, most = order[size - n :], s[order[size - n :]].var(unbiased=False)
        margin = 1e-9 * s[rows].var(unbiased=False)
        for a in range(1, n + 1):
            split = torch.cat((order[:a], order[size - n + a :]))
            spread = s[split].var(unbiased=False)
            if spread > most + margin:
                best, most = split, spread
        keep[best] = True
    return keep


def difficulty_filter(step: Step, s: Tensor, low: float = 0.2, high: float = 0.8) -> Tensor:
    q = f32(step.spread(s, torch.mean))
    return (q >= f32(low)) & (q <= f32(high))


def dapo_filter(step: Step, s: Tensor) -> Tensor:
    keep = torch.zeros_like(step.live)
    for rows in step.groups():
        scores = f32(s[step.counted(rows)])
        keep[rows] = scores.numel() == 1 or bool(scores.std(unbiased=False) > 0)
    return keep


def best_and_worst(step: Step, s: Tensor) -> Tensor:
    keep = torch.zeros_like(step.live)
    for rows in step.groups():
        best = rows[ranked(s[rows])[0]]
        others = rows[rows != best]
        keep[best] = True
        if others.numel() > 0:
            keep[others[ranked(s[others], largest=False)[0]]] = True
    return keep


def advantage_gate(step: Step, _s: Tensor, reject_min: float = 0.0, reject_max: float = 0.0) -> Tensor:
    a = f32(step.field("advantages"))
    outside = ((a < f32(reject_min)) | (a > f32(reject_max))) & step.live_tokens()
    keep = torch.zeros_like(step.live)
    for rows in step.groups():
        keep[rows] = bool(outside[rows].any())
    return keep


def entropy_topk(step: Step, s: Tensor, fraction: float = 0.2) -> Tensor:
    return entropy_weights(step, s, fraction) > 0


SELECTORS = {
    f.__name__: f
    for f in (
        threshold_band, topk_fraction, gfpo, gfpo_adaptive, max_variance, difficulty_filter, dapo_filter, best_and_worst, advantage_gate,
        entropy_topk,
    )
}

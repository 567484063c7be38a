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


def staleness_cutoff(_step: Step, s: Tensor, max_staleness: float = 8.0) -> Tensor:
    return f32(s) <= f32(max_staleness)


def opsm(step: Step, s: Tensor, delta: float = 1e-4) -> Tensor:
    good = f32(step.row_mean(step.field("advantages"))) >= 0
    return good | (f32(-s.log()) <= f32(delta))


def tv_gate(_step: Step, s: Tensor, delta: float = 0.1) -> Tensor:
    return f32(s.abs()) <= f32(delta)


def signed_gate(step: Step, s: Tensor, low: float = 0.2, high: float = 0.2) -> Tensor:
    return torch.where(step.field("advantages") > 0, f32(s) <= f32(high), f32(s) >= -f32(low))


def veto(step: Step, s: Tensor, low: float | None = 1e-4, high: float | None = None) -> Tensor:
    bad = torch.zeros_like(step.mask)
    if low is not None:
        bad |= f32(s) < f32(low)
    if high is not None:
        bad |= f32(s) > f32(high)
    return ~(bad & step.mask).any(dim=1, keepdim=True).expand_as(s)


def m2po(step: Step, s: Tensor, threshold: float) -> Tensor:
    """From the largest down, as the source does: drop until the mean of what is left is below the threshold."""
    live = step.live_tokens()
    keep = torch.zeros_like(live)
    places = live.nonzero()
    moments = s[live].log() ** 2
    order = torch.sort(moments, stable=True).indices
    means = torch.cumsum(moments[order], dim=0) / torch.arange(1, order.numel() + 1, dtype=F64)
    below = (f32(means) < f32(threshold)).nonzero()
    n = int(below[-1]) + 1 if below.numel() > 0 else 1
    for row, column in places[order[:n]].tolist():
        keep[row, column] = True
    return keep


def clip_cov(step: Step, s: Tensor, ratio: float, low: float = 1.0, high: float = 5.0) -> Tensor:
    """Only with a ratio that drops all that are eligible: which ones are drawn is not what is compared."""
    eligible = (f32(s) > f32(low)) & (f32(s) < f32(high)) & step.live_tokens()
    assert eligible.sum() <= max(1, int(ratio * step.live_tokens().sum()))
    return ~eligible


SELECTORS = {
    f.__name__: f
    for f in (
        threshold_band, topk_fraction, gfpo, gfpo_adaptive, max_variance, difficulty_filter, dapo_filter, best_and_worst, advantage_gate,
        entropy_topk, staleness_cutoff, opsm, tv_gate, signed_gate, veto, m2po, clip_cov,
    )
}

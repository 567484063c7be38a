"""Reweighters: (step, scores, params) -> raw weights (N,) or (N, T). Only live rows and unmasked tokens of them are compared."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .step import F64, Step, f32, ranked


def softmax(step: Step, s: Tensor, temperature: float = 1.0) -> Tensor:
    live = step.live
    out = torch.zeros_like(s)
    out[live] = torch.softmax(s[live] / temperature, dim=0) * int(live.sum())
    return out


def difficulty_band(step: Step, s: Tensor, low_q: float = 0.25, high_q: float = 0.75, focus_weight: float = 2.0) -> Tensor:
    live = s[step.live]
    if live.numel() < 2:
        return torch.ones_like(s)
    inside = (f32(s) >= f32(torch.quantile(live, low_q))) & (f32(s) <= f32(torch.quantile(live, high_q)))
    return torch.where(inside, focus_weight, 1.0).to(F64)


def advantage_reweight(_step: Step, s: Tensor, alpha: float = 0.5) -> Tensor:
    return alpha * s + (1 - alpha)


def per_advantage(_step: Step, s: Tensor, alpha: float = 0.5) -> Tensor:
    return (s.abs() + 1e-8) ** alpha


def awr(step: Step, s: Tensor, beta: float = 1.0, clip: float = 20.0, standardize: bool = True) -> Tensor:
    live = s[step.live]
    x = (s - live.mean()) / (live.std(unbiased=False) + 1e-5) if standardize else s
    return torch.exp(x / beta).clamp(max=clip)


def pf_ppo(step: Step, s: Tensor, method: str = "pow", weight_pow: float = 2.0, scope: str = "batch") -> Tensor:
    if method == "pow":
        return s.abs() ** weight_pow + 1e-8
    if scope == "group":
        top, bottom = step.spread(s, torch.max), step.spread(s, torch.min)
    else:
        top, bottom = s[step.live].max(), s[step.live].min()
    best, worst = f32(s) >= f32(top), f32(s) <= f32(bottom)
    if method == "max_random":
        return torch.where(best, 0.4, 0.1).to(F64) + 1e-8
    return (best | worst).to(F64) + 1e-8


def raft(step: Step, s: Tensor, k: int = 1) -> Tensor:
    out = torch.zeros_like(s)
    for rows in step.groups():
        out[rows[ranked(s[rows])[:k]]] = 1
    return out


def grpo_lead(step: Step, s: Tensor, a: float = 0.4, b: float = 1.5, x0: float = 0.75, k: float = 10.0) -> Tensor:
    x = torch.where(step.row_mean(step.field("advantages")) > 0, s, 1 - s)
    return a + (b - a) * torch.sigmoid(-k * (x - x0))


def odsw(_step: Step, s: Tensor, curriculum: str = "medium", shape: str = "soft", all_false_coef: float = 0.25) -> Tensor:
    q = f32(s)
    if shape == "binary":
        low, high = {"easy": (0.5, 1.0), "medium": (0.25, 0.75), "hard": (0.0, 0.5)}[curriculum]
        return ((q >= low if curriculum != "hard" else q > low) & (q <= high)).to(F64)
    bump = torch.cos((s - 0.5) * math.pi)
    bump[(q <= 0) | (q >= 1)] = 0
    one = torch.ones_like(s)
    if curriculum == "easy":
        return torch.where(q > 0.5, one, bump)
    if curriculum == "hard":
        return torch.where(q <= 0, all_false_coef * one, torch.where(q <= 0.5, one, bump))
    return bump


def psr_nsr(_step: Step, s: Tensor, keep: str = "both", **params: float) -> Tensor:
    right = f32(s) > f32(params.get("success_threshold", 0.5))
    on_right, on_wrong = {"both": (params.get("lambda", 0.1), 1.0), "positive": (1.0, 0.0), "negative": (0.0, 1.0)}[keep]
    return torch.where(right, on_right, on_wrong).to(F64)


def entropy_topk(step: Step, s: Tensor, fraction: float = 0.2) -> Tensor:
    threshold = torch.quantile(s[step.live_tokens()], 1 - fraction)
    return (f32(s) >= f32(threshold)).to(F64)


def gtpo(
    step: Step, s: Tensor, a1: float = 1.0, a2: float = 0.1, success_threshold: float = 0.5, mask_reward: bool = True
) -> Tensor:
    right = f32(step.reward(mask_reward)) > f32(success_threshold)
    h = s.clamp(min=1e-8)
    out = torch.zeros_like(s)
    for rows in step.groups():
        for side, value in ((rows[right[rows]], h), (rows[~right[rows]], 1 / h)):
            present = step.mask[side].to(F64)
            v = value[side] * present
            share = present.sum(dim=0) * v / v.sum(dim=0).clamp(min=1e-300)
            out[side] = a1 + a2 * share
    return out


def delta_l(step: Step, s: Tensor, alpha: float = 1.0) -> Tensor:
    u = (s / s[step.live].mean()) ** -alpha
    return u / u[step.live].mean()


def overlong_filter(_step: Step, s: Tensor) -> Tensor:
    return (s == 0).to(F64)


def rollout_is(
    step: Step, s: Tensor, level: str = "token", method: str = "truncate", high: float = 2.0, low: float = 0.5,
    batch_normalize: bool = False, reject: str = "none", reject_high: float = 2.0, reject_low: float | None = None,
) -> Tensor:
    live = step.live_tokens()
    log = s.log()
    rho = s
    if level == "sequence":
        rho = step.row_sum(log).clamp(-20, 20).exp()[:, None].expand_as(s)
    inside = (f32(rho) >= f32(low)) & (f32(rho) <= f32(high))
    w = {"truncate": rho.clamp(max=high), "clip": rho.clamp(low, high), "mask": torch.where(inside, rho, 0)}[method]
    if level == "none":
        w = torch.ones_like(s)
    if batch_normalize:
        mean = w[:, 0][step.live].mean() if level == "sequence" else w[live].sum() / (live.sum() + 1e-8)
        w = w / mean if mean > 1e-8 else w
    return w if reject == "none" else w * kept(step, log, reject, reject_high, reject_low)


def kept(step: Step, log: Tensor, reject: str, high: float, low: float | None) -> Tensor:
    kind = reject[-2:]
    k = {"k1": -log, "k2": log**2 / 2, "k3": log.exp() - 1 - log}[kind]
    if reject.startswith("seq_sum"):
        k = step.row_sum(k)[:, None]
    elif reject.startswith("seq_mean"):
        k = step.row_mean(k)[:, None]
    elif reject.startswith("seq_max"):
        k = k.masked_fill(~step.mask, -torch.inf).max(dim=1).values[:, None]
    if kind != "k1":
        return (f32(k) <= f32(high)).to(F64)
    return ((f32(k) >= f32(math.log(low or 1 / high))) & (f32(k) <= f32(math.log(high)))).to(F64)


def staleness_decay(_step: Step, s: Tensor) -> Tensor:
    return 1 / (s + 1)


def maxrl(step: Step, s: Tensor, normalized: bool = True) -> Tensor:
    def weight(rewards: Tensor) -> Tensor:
        if rewards.numel() == 1 or rewards.mean() <= 0:
            return torch.zeros((), dtype=F64)
        return ((rewards.std(unbiased=True) + 1e-6) if normalized else 1) / rewards.mean()

    return step.spread(s, weight)


def vespo(
    step: Step, s: Tensor, k_pos: float = 2.0, lambda_pos: float = 3.0, k_neg: float = 3.0, lambda_neg: float = 2.0,
) -> Tensor:
    good = step.row_mean(step.field("advantages")) >= 0
    k, decay = torch.where(good, k_pos, k_neg), torch.where(good, lambda_pos, lambda_neg)
    w = s.clamp(1e-8, math.exp(20))
    return torch.exp(decay) * w**k * torch.exp(-decay * w)


def length_weight(step: Step, s: Tensor) -> Tensor:
    live = s[step.live]
    return 1.5 - (s - live.min()) / (live.max() - live.min() + 1e-8)


def difficulty_weight(_step: Step, s: Tensor, easy: bool = False) -> Tensor:
    held = s.clamp(0, 1)
    return 0.5 + 1.5 * (1 - held if easy else held)


REWEIGHTERS = {
    f.__name__: f
    for f in (
        softmax, difficulty_band, advantage_reweight, per_advantage, awr, pf_ppo, raft, grpo_lead, odsw, psr_nsr,
        entropy_topk, gtpo, delta_l, overlong_filter, rollout_is, staleness_decay, maxrl, vespo, length_weight, difficulty_weight,
    )
}

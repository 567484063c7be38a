"""Policies: (steps fed, candidates, params) -> what the choice depends on, without any draw.

greso: the probability to leave each candidate out. adarft: the target, then the kept rows. The pools: each candidate's sampling weight.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .step import F64, Step, f32, ranked


def rewards_by_key(fed: dict, mask_reward: bool) -> dict[str, Tensor]:
    """Rewards (responses,) of each prompt of a step: live rows, of each session of a uid the last."""
    step = Step(fed)
    reward = step.reward(mask_reward)
    rows: dict[str, list[int]] = {}
    for group in step.groups():
        for i in step.counted(group).tolist():
            rows.setdefault(fed["dataset_key"][i], []).append(i)
    return {key: reward[torch.tensor(sorted(at))] for key, at in rows.items()}


def latest_rewards(fed: list[dict], mask_reward: bool) -> dict[str, Tensor]:
    latest: dict[str, Tensor] = {}
    for step in fed:
        latest.update(rewards_by_key(step, mask_reward))
    return latest


def normalised(weights: list[float]) -> list[float]:
    w = torch.tensor(weights, dtype=F64)
    w = w / w.sum() if w.sum() > 0 else torch.full_like(w, 1 / w.numel())
    return f32(w).tolist()  # weights are delivered as float32


def greso(
    fed: list[dict], candidates: dict, p_easy: float, p_hard: float, p_change: float, target: float, min_explore: float,
    mask_reward: bool, easy_reward: float = 0.98, hard_reward: float = 0.0,
) -> list[list[float]]:
    def kind(r: Tensor) -> str | None:
        r = r.to(F64)
        if r.numel() < 2 or f32(r).unique().numel() > 1:
            return None
        mean = f32(r.mean())
        return "easy" if mean >= f32(easy_reward) else "hard" if mean <= f32(hard_reward) else None

    p = {"easy": p_easy, "hard": p_hard}
    wanted = {"easy": target / 3, "hard": 2 * target / 3}
    streak: dict[str, tuple[str | None, int]] = {}
    for step in fed:
        kinds = {key: kind(r) for key, r in rewards_by_key(step, mask_reward).items()}
        for key, now in kinds.items():
            before, times = streak.get(key, (None, 0))
            streak[key] = (now, times + 1 if now == before else 1)
        for name in p if kinds else ():
            ratio = list(kinds.values()).count(name) / len(kinds)
            p[name] = min(max(p[name] + (-p_change if ratio >= wanted[name] else p_change), 0.05), 0.95)
    skip = []
    for key in candidates["dataset_key"]:
        now, z = streak.get(key, (None, 0))
        skip.append(0.0 if now is None else 1 - max(p[now] ** z, min_explore))
    return [skip]


def adarft(
    fed: list[dict], candidates: dict, batch_size: int, eta: float, alpha: float, beta: float, mask_reward: bool,
    d_min: float = 0.0, d_max: float = 100.0, start: float = 0.0,
) -> list[list[float]]:
    t = torch.tensor(start, dtype=F64)
    for data in fed:
        step = Step(data)
        if step.live.any():
            mean = step.reward(mask_reward)[step.live].mean()
            t = (t + eta * torch.tanh(alpha * (mean - beta))).clamp(d_min, d_max)
    difficulty = torch.tensor(candidates["difficulty"], dtype=F64)
    nearest = ranked((difficulty - t).abs(), largest=False)[:batch_size]
    return [[t.item()], sorted(nearest.tolist())]


def difficulty_pool(
    fed: list[dict], candidates: dict, hard_weight: float, normal_weight: float, easy_weight: float, unseen_weight: float,
    mask_reward: bool, hard_below: float = 0.25, easy_above: float = 0.75,
) -> list[list[float]]:
    latest = latest_rewards(fed, mask_reward)
    limits = f32(torch.tensor([hard_below, easy_above], dtype=F64))
    of_pool = (hard_weight, normal_weight, easy_weight)

    def weight(key: str) -> float:
        return of_pool[int((f32(latest[key].mean()) > limits).sum())] if key in latest else unseen_weight

    return [normalised([weight(key) for key in candidates["dataset_key"]])]


def learnability_pool(
    fed: list[dict], candidates: dict, floor: float, unseen: float, success_threshold: float, mask_reward: bool,
) -> list[list[float]]:
    latest = latest_rewards(fed, mask_reward)

    def weight(key: str) -> float:
        if key not in latest:
            return unseen + floor
        q = (f32(latest[key]) > f32(success_threshold)).to(F64)
        return (q.var(unbiased=False) + floor).item()

    return [normalised([weight(key) for key in candidates["dataset_key"]])]


def mopps(
    fed: list[dict], candidates: dict, batch_size: int, target: float, decay: float, success_threshold: float, mask_reward: bool,
    prior_alpha: float = 1.0, prior_beta: float = 1.0,
) -> list[list[float]]:
    """alpha and beta of each candidate."""
    prior = torch.tensor([prior_alpha, prior_beta], dtype=F64)
    known: dict[str, Tensor] = {}
    for step in fed:
        for key, rewards in rewards_by_key(step, mask_reward).items():
            right = (f32(rewards) > f32(success_threshold)).sum()
            seen = torch.stack((right, rewards.numel() - right)).to(F64)
            known[key] = decay * known.get(key, prior) + (1 - decay) * prior + seen
    both = [known.get(key, prior) for key in candidates["dataset_key"]]
    return [[pair[0].item() for pair in both], [pair[1].item() for pair in both]]


POLICIES = {f.__name__: f for f in (greso, adarft, difficulty_pool, learnability_pool, mopps)}


def choose(run: dict) -> list[list[float]]:
    return POLICIES[run["name"]](run["fed"], run["candidates"], **run["params"])

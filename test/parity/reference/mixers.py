"""Mixers: (history of the seen domains, params) -> shares (K,) of these domains, before the floor."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .step import F64, ranked


class History:
    """sums, counts: (steps, K). What no domain had rows in is a step all the same."""

    def __init__(self, steps: Tensor, sums: Tensor, counts: Tensor, prior: Tensor, window: int, warmup: int, every: int) -> None:
        self.steps, self.sums, self.counts, self.prior = steps, sums, counts, prior
        self.window, self.warmup, self.every = window, warmup, every
        self.size = prior.numel()

    def seen_only(self, which: Tensor) -> History:
        prior = self.prior[which]
        prior = prior / prior.sum() if prior.sum() > 0 else torch.full_like(prior, 1 / prior.numel())
        return History(self.steps, self.sums[:, which], self.counts[:, which], prior, self.window, self.warmup, self.every)

    def recent(self, d: int) -> Tensor:
        """Indices of the last steps in which a domain had rows."""
        return self.counts[:, d].nonzero()[:, 0][-self.window :]

    def means(self) -> Tensor:
        own = [self.recent(d) for d in range(self.size)]
        return torch.stack([self.sums[at, d].sum() / self.counts[at, d].sum() for d, at in enumerate(own)])

    def updates(self) -> list[Tensor]:
        """Means (K,) of each update, nan where a domain had no rows. Updates are made at warmup, warmup + every, ..., and as often before."""
        made_at = self.steps + torch.remainder(self.warmup - self.steps, self.every)
        told = self.counts.sum(dim=1) > 0
        at = [told & (made_at == end) for end in torch.unique(made_at[told], sorted=True)]
        return [self.sums[rows].sum(dim=0) / self.counts[rows].sum(dim=0) for rows in at]


def reward_gap(h: History, temperature: float) -> Tensor:
    r = h.means()
    return torch.softmax((r.max() - r) / temperature, dim=0)


def vcrl_mix(h: History, temperature: float) -> Tensor:
    return torch.softmax(h.means() / temperature, dim=0)


def dump_ucb(h: History, temperature: float, c: float) -> Tensor:
    n = h.counts.sum(dim=0)
    bonus = torch.sqrt(2 * torch.log(n.sum() + 1) / (n + 1))
    return torch.softmax((h.means() + c * bonus) / temperature, dim=0)


def tscl(h: History, temperature: float, signed: bool, cold_slope: float) -> Tensor:
    slopes = torch.full((h.size,), cold_slope, dtype=F64)
    for d in range(h.size):
        at = h.recent(d)
        if at.numel() >= 2:
            x, y = h.steps[at].to(F64), h.sums[at, d] / h.counts[at, d]
            line = torch.linalg.lstsq(torch.stack((x - x.mean(), torch.ones_like(x)), dim=1), (y - y.mean())[:, None]).solution
            slopes[d] = line[0, 0]
    return torch.softmax((slopes.clamp(min=0) if signed else slopes.abs()) / temperature, dim=0)


def dads(h: History, alpha: float, eps: float, target: float, temperature: float) -> Tensor:
    r = torch.full((h.size,), math.nan, dtype=F64)
    for mean in h.updates():
        moved = torch.where(r.isnan(), mean, alpha * r + (1 - alpha) * mean)
        r = torch.where(mean.isnan(), r, moved)
    return torch.softmax(((target - r).clamp(min=0) + eps) / temperature, dim=0)


def exp3(h: History, signal: str, scale: float) -> Tensor:
    k = h.size
    eps = [1 / k]
    p, r_hat = torch.full((k,), 1 / k, dtype=F64), torch.zeros(k, dtype=F64)
    for t, mean in enumerate(h.updates(), start=1):
        eps.append(min(1 / k, math.sqrt(math.log(k) / (k * t))))
        best = mean[~mean.isnan()].max()
        r = ((best - mean if signal == "gap" else mean) / scale).clamp(0, 1).nan_to_num(0)
        r_hat = r_hat + r / p
        p = (1 - k * eps[t]) * torch.softmax(eps[t - 1] * r_hat, dim=0) + eps[t]
    return p


def plr(h: History, beta: float, rho: float) -> Tensor:
    rank = torch.empty(h.size, dtype=F64)
    rank[ranked(h.means())] = torch.arange(1, h.size + 1, dtype=F64)
    by_score = rank ** (-1 / beta)
    last = torch.stack([h.counts[:, d].nonzero().max() for d in range(h.size)])
    staleness = (len(h.steps) - 1 - last).to(F64)
    by_age = staleness / staleness.sum() if staleness.sum() > 0 else torch.full_like(staleness, 1 / h.size)
    return (1 - rho) * by_score / by_score.sum() + rho * by_age


def doremi(h: History, eta: float, smoothing: float, average: bool) -> Tensor:
    a, excess, path = h.prior, torch.zeros(h.size, dtype=F64), []
    for mean in h.updates():
        excess = torch.where(mean.isnan(), excess, mean[~mean.isnan()].max() - mean)
        a = a * torch.exp(eta * excess)
        a = (1 - smoothing) * a / a.sum() + smoothing / h.size
        path.append(a)
    return torch.stack(path).mean(dim=0) if average else a


def share(values: list[float] | None, prior: Tensor) -> Tensor:
    return prior if values is None else torch.tensor(values, dtype=F64) / sum(values)


def static(h: History, proportions: list[float] | None) -> Tensor:
    return share(proportions, h.prior)


def linear_schedule(h: History, step: int, start: list[float] | None, end: list[float], begin_step: int, end_step: int) -> Tensor:
    x = min(max((step - begin_step) / (end_step - begin_step), 0.0), 1.0)
    return torch.lerp(share(start, h.prior), share(end, h.prior), torch.tensor(x, dtype=F64))


MIXERS = {f.__name__: f for f in (reward_gap, vcrl_mix, dump_ucb, tscl, dads, exp3, plr, doremi)}
BLIND = {f.__name__: f for f in (static, linear_schedule)}


def mix(run: dict) -> Tensor:
    """Shares as delivered: domains never seen keep their prior share, the others divide the rest, then the floor."""
    given, params = run["series"], dict(run["params"])
    size = len(given["domains"])
    table = {key: torch.tensor([s[key] for s in given["steps"]], dtype=F64).reshape(-1, size) for key in ("sums", "counts")}
    steps = torch.tensor([s["step"] for s in given["steps"]], dtype=torch.int64)
    prior = torch.tensor(given["prior"], dtype=F64)
    h = History(steps, table["sums"], table["counts"], prior, given["window"], given["warmup_step"], given["update_step"])
    if run["name"] in BLIND:
        if run["name"] == "linear_schedule":
            params["step"] = run["step"]
        return BLIND[run["name"]](h, **params)
    floor, mode = params.pop("floor"), params.pop("floor_mode")
    p, seen = prior.clone(), h.counts.sum(dim=0) > 0
    if seen.any():
        p[seen] = prior[seen].sum() * MIXERS[run["name"]](h.seen_only(seen), **params)
    if mode == "mix":
        return floor + (1 - size * floor) * p
    raised = p.clamp(min=floor)
    return raised / raised.sum()

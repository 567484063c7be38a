"""Scorers: (step, params) -> (N,) or (N, T)."""

from __future__ import annotations

import torch
from torch import Tensor

from .step import F64, Step, f32


def advantage_magnitude(step: Step, agg: str = "mean") -> Tensor:
    size = step.field("advantages").abs()
    return {"mean": step.row_mean(size), "sum": size.sum(dim=1), "max": size.max(dim=1).values}[agg]


def reward_difficulty(step: Step, mask_reward: bool = True) -> Tensor:
    return step.reward(mask_reward)


def group_solve_rate(step: Step, success_threshold: float = 0.5, mask_reward: bool = True) -> Tensor:
    solved = (f32(step.reward(mask_reward)) > f32(success_threshold)).to(F64)
    return step.spread(solved, torch.mean)


def token_prob(step: Step) -> Tensor:
    return step.field("old_log_probs").exp()


def response_length(step: Step, count: str = "mask") -> Tensor:
    return step.tokens if count == "mask" else step.lengths


def length_efficiency(step: Step, mask_reward: bool = True) -> Tensor:
    return step.reward(mask_reward) / step.tokens.clamp(min=1)


def group_mean_reward(step: Step, mask_reward: bool = True) -> Tensor:
    return step.spread(step.reward(mask_reward), torch.mean)


def group_reward_variance(step: Step, mask_reward: bool = True) -> Tensor:
    def share(rewards: Tensor) -> Tensor:
        size = rewards.numel()
        if size == 1:
            return torch.zeros((), dtype=F64)
        most = size / (4 * (size - 1)) if size % 2 == 0 else (size + 1) / (4 * size)
        return (rewards.var(unbiased=True) / most).clamp(max=1)

    return step.spread(step.reward(mask_reward), share)


def learnability(step: Step, success_threshold: float = 0.5, mask_reward: bool = True) -> Tensor:
    rate = group_solve_rate(step, success_threshold, mask_reward)
    return rate * (1 - rate)


def token_entropy(step: Step) -> Tensor:
    return step.field("entropy")


def seq_entropy(step: Step) -> Tensor:
    return step.row_mean(step.field("entropy"))


def log_ratio(step: Step) -> Tensor:
    return step.field("old_log_probs") - step.field("rollout_log_probs")


def is_ratio(step: Step) -> Tensor:
    return log_ratio(step).clamp(-20, 20).exp()


def seq_is_ratio(step: Step) -> Tensor:
    return step.row_sum(log_ratio(step)).clamp(-20, 20).exp()


def geo_is_ratio(step: Step) -> Tensor:
    return step.row_mean(log_ratio(step)).exp()


def ref_kl(step: Step) -> Tensor:
    d = (step.field("ref_log_prob") - step.field("old_log_probs")).clamp(-20, 20)
    return torch.expm1(d) - d


def signed_advantage(step: Step) -> Tensor:
    return step.row_mean(step.field("advantages"))


def prob_diff(step: Step) -> Tensor:
    return step.field("old_log_probs").exp() - step.field("rollout_log_probs").exp()


def binary_kl(step: Step) -> Tensor:
    log_pi, log_mu = step.field("old_log_probs"), step.field("rollout_log_probs")
    mu, pi = log_mu.exp(), log_pi.exp()
    rest_mu, rest_pi = (1 - mu).clamp(min=0), (1 - pi).clamp(min=0)
    divergence = mu * (log_mu - log_pi) + rest_mu * torch.log((rest_mu + 1e-8) / (rest_pi + 1e-8))
    return torch.where(pi > mu, divergence, -divergence)


def segment_is_ratio(step: Step) -> Tensor:
    log = log_ratio(step)
    # Turns are numbered by where the mask rises.
    rises = step.mask & ~torch.nn.functional.pad(step.mask, (1, 0))[:, :-1]
    turn = torch.cumsum(rises, dim=1)
    out = torch.zeros_like(log)
    for number in range(1, int(turn.max()) + 1):
        own = step.mask & (turn == number)
        mean = (log * own).sum(dim=1) / own.sum(dim=1).clamp(min=1)
        out = torch.where(own, mean.clamp(-20, 20).exp()[:, None], out)
    return out


def mult_prob_error(step: Step) -> Tensor:
    return step.row_mean(log_ratio(step).abs().clamp(max=20).exp())


def advantage_cov(step: Step) -> Tensor:
    live = step.live_tokens()
    a, log = step.field("advantages"), step.field("old_log_probs")
    return (a - a[live].mean()) * (log - log[live].mean())


def staleness(step: Step, now: int = 1) -> Tensor:
    return ((now - 1) - step.columns["policy_version"]).clamp(min=0)


def difficulty(step: Step) -> Tensor:
    return step.columns["difficulty"]


def truncated(step: Step, max_response_length: int) -> Tensor:
    return (step.lengths >= max_response_length).to(F64)


def column(step: Step, name: str, reduce: str = "mean") -> Tensor:
    values = step.field(name)
    if reduce in ("max", "min"):
        edge = float("-inf") if reduce == "max" else float("inf")
        return getattr(torch.where(step.mask, values, torch.tensor(edge, dtype=F64)), reduce)(dim=1).values
    if reduce == "last":
        ends = torch.where(step.mask, torch.arange(step.mask.shape[1]), 0).max(dim=1).values
        return values[torch.arange(len(values)), ends]
    return step.row_mean(values) if reduce == "mean" else step.row_sum(values)


SCORERS = {
    f.__name__: f
    for f in (
        advantage_magnitude, reward_difficulty, group_solve_rate, token_prob, response_length, length_efficiency,
        group_mean_reward, group_reward_variance, learnability, token_entropy, seq_entropy, is_ratio, seq_is_ratio,
        geo_is_ratio, ref_kl, signed_advantage, truncated, prob_diff, binary_kl, segment_is_ratio, mult_prob_error,
        advantage_cov, staleness, difficulty, column,
    )
}

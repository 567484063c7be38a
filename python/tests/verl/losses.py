"""verl's policy losses on fetched rows, and the same written down anew."""

from __future__ import annotations

from typing import Any

import torch
from tensordict import TensorDict
from verl.trainer.ppo.core_algos import get_policy_loss_fn

# Every live token's log-prob has moved by so much since the rollout: no loss clips.
MOVED = 0.01
# verl has no default for the first.
DRO_BETA = 0.5
KL_COEF = 0.1
# Those that multiply each token's loss by its weight.
LOSSES = ("vanilla", "dppo_tv", "dppo_kl", "gspo", "sapo", "gpg", "clip_cov", "kl_cov", "dro", "cispo")


def policy_loss(actor: Any, data: TensorDict, mode: str) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
    """
    verl's loss of a policy that has moved: loss, gradient by log-prob (rows, L), padded fields. actor: verl's ActorConfig.
    """
    names = ["response_mask", "old_log_probs", "advantages"]
    weighted = "rollout_is_weights" in data
    padded = data.select(*names, *(["rollout_is_weights"] if weighted else [])).to_padded_tensor()
    log_prob = (padded["old_log_probs"] + MOVED).detach().requires_grad_()
    actor.global_batch_info.update(dp_size=1, batch_num_tokens=None, global_batch_size=None, loss_scale_factor=None)
    loss, _ = get_policy_loss_fn(mode)(
        old_log_prob=padded["old_log_probs"],
        log_prob=log_prob,
        advantages=padded["advantages"],
        response_mask=padded["response_mask"].to(bool),
        loss_agg_mode="token-mean",
        config=actor,
        rollout_is_weights=padded["rollout_is_weights"] if weighted else None,
    )
    (gradient,) = torch.autograd.grad(loss, log_prob)
    return loss.detach(), gradient, dict(padded.items())


def by_hand(mode: str, padded: dict[str, torch.Tensor], weights: torch.Tensor) -> torch.Tensor:
    """The same loss, written down anew from its paper's formula: tokens' losses times their weights, then the mean."""
    mask = padded["response_mask"].to(torch.float64)
    advantages, old = padded["advantages"].to(torch.float64), padded["old_log_probs"].to(torch.float64)
    now, ratio = old + MOVED, torch.exp(torch.tensor(MOVED, dtype=torch.float64))
    surrogate = -advantages * ratio
    tau = torch.where(advantages > 0, 1.0, 1.05)
    tokens = {
        "vanilla": surrogate,
        "dppo_tv": surrogate * now,
        "dppo_kl": surrogate * now,
        "gspo": surrogate,
        "sapo": -advantages * torch.sigmoid(tau * (ratio - 1)) * 4 / tau,
        "gpg": -advantages * now,
        "clip_cov": surrogate,
        "kl_cov": surrogate + KL_COEF * MOVED * _most_covariant(advantages, now, mask),
        "dro": -advantages * now + 0.5 * DRO_BETA * MOVED**2,
        "cispo": surrogate * now,
    }[mode]
    weighted = tokens * weights.to(torch.float64) * mask
    if mode == "sapo":
        # Rows count alike, whatever their length.
        return (weighted.sum(1) / mask.sum(1)).mean()
    return weighted.sum() / mask.sum()


def _most_covariant(advantages: torch.Tensor, now: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """1 at the one live token (of so few) that kl_cov adds its KL to."""
    live = mask > 0
    covariance = (advantages - advantages[live].mean()) * (now - now[live].mean())
    at = torch.where(live, covariance, -torch.inf).flatten().argmax()
    return torch.zeros_like(mask).flatten().index_fill_(0, at, 1.0).view_as(mask)

"""A trainer without its loop, of which a test calls the two methods that matter."""

from __future__ import annotations

from typing import Any

import pytest
from losses import DRO_BETA, KL_COEF
from verl.trainer.ppo.v1 import get_trainer_cls
from verl.utils.config import omega_conf_to_dataclass
from verl_config import verl_config


def make_trainer(service: Any, run_id: str, dataflex: dict[str, Any], **paths: Any) -> Any:
    config = verl_config({**dataflex, "redis_url": service.url, "run_id": run_id}, **paths)
    trainer = get_trainer_cls(config.trainer.v1.trainer_mode)(config)
    trainer.global_steps = 1
    return trainer


def submit(trainer: Any, batch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`_balance_batch` with verl's part, which asks worker groups, left out."""
    with monkeypatch.context() as patch:
        patch.setattr(type(trainer).__mro__[2], "_balance_batch", lambda self, batch, **_: batch, raising=False)
        return trainer._balance_batch(batch, metrics={})


def actor_config(trainer: Any) -> Any:
    """verl's ActorConfig, with what `losses.by_hand` counts on."""
    trainer.config.actor_rollout_ref.actor.policy_loss.dro_beta = DRO_BETA
    trainer.config.actor_rollout_ref.actor.policy_loss.ppo_kl_coef = KL_COEF
    return omega_conf_to_dataclass(trainer.config.actor_rollout_ref.actor)

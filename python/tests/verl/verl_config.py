"""verl's own default configuration, for a trainer that never starts an engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import verl
from omegaconf import DictConfig, OmegaConf, open_dict


def verl_config(dataflex: Mapping[str, Any] | None, trainer_mode: str = "dataflex_mq_sync", **paths: Any) -> DictConfig:
    """paths: `a__b=value` sets `a.b`."""
    folder = Path(verl.__file__).parent / "trainer" / "config"
    config = OmegaConf.load(folder / "_generated_ppo_trainer.yaml")
    assert isinstance(config, DictConfig)
    with open_dict(config):
        config.algorithm.adv_estimator = "grpo"
        config.actor_rollout_ref.rollout.n = 4
        config.trainer.v1.trainer_mode = trainer_mode
        config.actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu = 1
        config.trainer.logger = ["console"]
        if dataflex is not None:
            config.dataflex = dict(dataflex)
        for path, value in paths.items():
            OmegaConf.update(config, path.replace("__", "."), value, force_add=True)
    OmegaConf.set_struct(config, True)
    return config

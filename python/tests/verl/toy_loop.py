"""
verl's real loop around a model of one vector. Only the set-up, the worker groups and the rollout are replaced: workers run in this process
behind verl's real TransferQueue bridge, with its real `ppo_loss`; `step`, `_step_once`, `_balance_batch`, `_compute_*`, `_update_actor`,
the replay buffer, the data loader and TransferQueue are verl's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import toy_data
from toy_rollout import ToyRollout
from toy_set_up import ToySetUp
from verl.trainer.ppo.v1 import get_trainer_cls
from verl_config import verl_config


def make_loop(config: Any) -> tuple[Any, ToyRollout]:
    """A trainer, initialised, and its rollout. The trainer keeps the metrics of every step in `logged`."""
    trainer_class = get_trainer_cls(config.trainer.v1.trainer_mode)

    class ToyTrainer(ToySetUp, trainer_class):
        def _compute_metrics(self, batch: Any, metrics: dict, *args: Any, **kwargs: Any) -> None:
            super()._compute_metrics(batch, metrics, *args, **kwargs)
            self.logged.append(dict(metrics))

    trainer = ToyTrainer(config)
    trainer.logged = []
    trainer.init()
    return trainer, ToyRollout(config.actor_rollout_ref.rollout.n)


def loop_config(
    folder: Path, mode: str, dataflex: dict[str, Any] | None = None, triggers: int = 1, **paths: Any
) -> Any:
    """
    4 prompts a step of 4 responses, ten steps, a checkpoint every five. triggers: updates a step. paths: other settings, as `verl_config`
    takes them.
    """
    own = mode.replace("dataflex_mq_", "").replace("mix_", "")
    settings = {
        "data__custom_cls__path": toy_data.__file__,
        "data__custom_cls__name": "ToyDataset",
        "data__train_batch_size": 4,
        "data__dataloader_num_workers": 0,
        "data__seed": 3,
        "actor_rollout_ref__actor__ppo_mini_batch_size": 4 // triggers,
        "actor_rollout_ref__rollout__calculate_log_probs": True,
        # Servers beside the trainer, of which verl wants to know that there are some.
        "actor_rollout_ref__rollout__nnodes": 1,
        "actor_rollout_ref__rollout__n_gpus_per_node": 1,
        "actor_rollout_ref__rollout__checkpoint_engine__backend": "nccl",
        f"trainer__v1__{own}__parameter_sync_step": triggers,
        "trainer__val_before_train": False,
        "trainer__test_freq": -1,
        "trainer__save_freq": 5,
        "trainer__total_epochs": 100,
        "trainer__total_training_steps": 10,
        "trainer__default_local_dir": str(folder),
        "trainer__n_gpus_per_node": 1,
    }
    return verl_config(dataflex, mode, **{**settings, **paths})

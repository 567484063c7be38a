"""The trainers: verl's own, with `DataflexTrainer` or `MixingTrainer` in front."""

from __future__ import annotations

from verl.trainer.ppo.v1 import PPOTrainerColocateAsync, PPOTrainerSeparateAsync, PPOTrainerSync

from .mixing_trainer import MixingTrainer
from .names import TRAINERS
from .trainer import DataflexTrainer

_OWN = {
    "sync": PPOTrainerSync,
    "colocate_async": PPOTrainerColocateAsync,
    "separate_async": PPOTrainerSeparateAsync,
}


def make_trainers() -> dict[str, type]:
    """Name → trainer class."""
    made: dict[str, type] = {}
    for name, (mode, mixes) in TRAINERS.items():
        kind = MixingTrainer if mixes else DataflexTrainer
        title = "".join(part.capitalize() for part in name.split("_"))
        made[name] = type(title, (kind, _OWN[mode]), {"verl_mode": mode, "mixes": mixes, "trainer_name": name})
    return made

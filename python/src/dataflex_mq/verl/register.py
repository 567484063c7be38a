"""Puts the trainers into verl's registry."""

from __future__ import annotations

from typing import Any

from verl.trainer.ppo.v1.trainer_base import PPOTrainer, register_trainer

from ..errors import DataflexError
from .names import TRAINERS, names_of
from .versions import installed, unproven


def register_all() -> None:
    """Every name gets its trainer, or one whose constructor raises with the versions and what to do."""
    made: dict[str, type] = {}
    refusal = unproven(installed("verl"), installed("TransferQueue"))
    if refusal is None:
        try:
            from .trainers import make_trainers

            made = make_trainers()
        except Exception as caught:  # whatever this verl lacks, it is to be said when a trainer is asked for
            refusal = unproven(installed("verl"), installed("TransferQueue"), caught)
    for trainer in TRAINERS:
        for name in names_of(trainer):
            register_trainer(name)(made[trainer] if refusal is None else _refusing(refusal))


def _refusing(refusal: DataflexError) -> type:
    class RefusingTrainer(PPOTrainer):
        # In `__new__`, before a later verl's abstract methods can raise.
        def __new__(cls, *args: Any, **kwargs: Any) -> RefusingTrainer:
            raise refusal

    return RefusingTrainer

"""What a component of our own form is called with beside its batch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class StateStep:
    """What a selector remembered of an earlier step: names with numbers."""

    step: int
    trigger: int
    values: dict[str, tuple[float, ...]]


@dataclass
class Context:
    """
    `step`, `trigger`, `run`: which step this is. `device`: where tensors of the batch lie, `cpu` or `cuda:0`. `state`: what this
    selector remembered of earlier steps of the run, oldest first.
    """

    run: str
    step: int
    trigger: int
    device: str
    seed: str
    state: Sequence[StateStep] = ()
    warnings: list[str] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)

    def warn(self, text: str) -> None:
        """Something the user should know. Equal texts count once: put numbers into a metric, not into the text."""
        if text not in self.warnings:
            self.warnings.append(text)

    def metric(self, name: str, amount: float) -> None:
        """Adds to a metric of the step."""
        self.metrics[name] = self.metrics.get(name, 0.0) + float(amount)

    @cached_property
    def random(self) -> np.random.Generator:
        """A NumPy generator, seeded by run, step, trigger, pipeline and component: the same step draws the same numbers again."""
        return np.random.default_rng(self._seed)

    @cached_property
    def generator(self) -> Any:
        """A `torch.Generator` on `device`, seeded as `random` is."""
        import torch

        return torch.Generator(device=self.device).manual_seed(self._seed)

    @property
    def _seed(self) -> int:
        return int.from_bytes(hashlib.sha256(self.seed.encode()).digest()[:8], "little") >> 1

"""Base classes: what a class written for DataFlex-RL may rely on, checks of its attributes included."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

TIMINGS = ("pre_rollout", "post_reward", "post_advantage", "in_loss")
GRANULARITIES = ("domain", "prompt", "response", "token")


class Scorer(ABC):
    """Turns a batch into one score per row or per token."""

    requires: ClassVar[list[str]] = []
    timing: ClassVar[str] = "post_reward"
    granularity: ClassVar[str] = "prompt"
    needs_groups: ClassVar[bool] = False

    def __init__(self, **kwargs: Any) -> None:
        """What a subclass does not take is dropped."""
        super().__init__()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for attribute, allowed in (("timing", TIMINGS), ("granularity", GRANULARITIES)):
            value = getattr(cls, attribute)
            if value not in allowed:
                raise ValueError(f"{cls.__name__}.{attribute} is {value!r}, one of {', '.join(allowed)} is wanted")

    @abstractmethod
    def score(self, batch: Any, step_id: int, **ctx: Any) -> Any:
        """(rows,), or (rows, L) with granularity `token`."""


class Actuator(ABC):
    """Turns scores into weights, kept rows or shares."""

    def __init__(self, scorer: Any = None, **kwargs: Any) -> None:
        self.scorer = scorer

    @abstractmethod
    def act(self, scores: Any, batch: Any, **ctx: Any) -> Any:
        """What the mechanism expects."""


class Selector(Actuator):
    """Scores → indices of the rows to keep."""


class Reweighter(Actuator):
    """Scores → weights, (rows,) or (rows, L)."""


class Mixer(Actuator):
    """Scores of the domains → their shares."""

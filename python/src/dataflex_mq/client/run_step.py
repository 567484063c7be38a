"""One step of a run, with its number and trigger given once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol

from ..errors import DataflexError
from .pending import PendingStep
from .put import PutReceipt
from .step_result import StepResult

log = logging.getLogger("dataflex_mq")


class OwnRun(Protocol):
    """What a step asks of its run."""

    @property
    def put(self) -> Callable[..., PutReceipt]: ...

    @property
    def submit(self) -> Callable[..., PendingStep]: ...

    def weights(
        self, step: int, timeout: float | None, *, stages: Sequence[str] | None, trigger: int
    ) -> StepResult: ...

    def release(self, step: int, trigger: int) -> str: ...


class RunStep:
    """`with run.step(7) as step`: released at the end, also after an exception, which is raised whatever becomes of the release."""

    def __init__(self, run: OwnRun, step: int, trigger: int = 0) -> None:
        self._run = run
        self._released: str | None = None
        self.step = step
        self.trigger = trigger

    def put(self, stage: str, fields: Mapping[str, Any], **options: Any) -> PutReceipt:
        """As `Run.put`."""
        return self._run.put(self.step, stage, fields, trigger=self.trigger, **options)

    def submit(self, stage: str, fields: Mapping[str, Any], **options: Any) -> PendingStep:
        """As `Run.submit`."""
        return self._run.submit(self.step, stage, fields, trigger=self.trigger, **options)

    def weights(self, timeout: float | None = None, *, stages: Sequence[str] | None = None) -> StepResult:
        """As `Run.weights`."""
        return self._run.weights(self.step, timeout, stages=stages, trigger=self.trigger)

    def release(self) -> str:
        """As `Run.release`, once."""
        if self._released is None:
            self._released = self._run.release(self.step, self.trigger)
        return self._released

    def __enter__(self) -> RunStep:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.release()
        except DataflexError as caught:
            if error is None:
                raise
            log.warning("step %s was not released: %s", self.step, caught)

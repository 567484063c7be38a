"""A step that was submitted: its put is under way, its weights can be asked for later."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import TYPE_CHECKING

from .put import PutReceipt

if TYPE_CHECKING:
    from .run import Run
    from .step_result import StepResult


class PendingStep:
    """
    What `submit` gives. The fields are encoded already, so the trainer may reuse its arrays; sending goes on in the background, scoring
    in the service. `result()` waits for what is left of it.
    """

    def __init__(self, run: Run, step: int, trigger: int, stage: str, sent: Future[PutReceipt], timeout: float) -> None:
        self.step = step
        self.trigger = trigger
        self.stage = stage
        self._run = run
        self._sent = sent
        self._timeout = timeout
        self._began = time.monotonic()

    def sent(self, timeout: float | None = None) -> PutReceipt:
        """Waits for the put alone. Raises what a put raises, and the builtin TimeoutError."""
        return self._sent.result(timeout)

    def done(self) -> bool:
        """Whether `result()` would answer at once."""
        if not self._sent.done():
            return False
        failed = self._sent.cancelled() or self._sent.exception() is not None
        return failed or self._run.is_settled(self.step, trigger=self.trigger, stages=[self.stage])

    def result(self, timeout: float | None = None) -> StepResult:
        """
        The weights of the pipelines of this stage. `timeout` in seconds from now; default: what is left of the run's `max_wait_ms` since
        submitting. Raises what a put and `weights` raise.
        """
        if self._sent.done():
            # Whoever waited for the step before was told the same.
            self._sent.result()
        left = self._began + self._timeout - time.monotonic() if timeout is None else timeout
        return self._run.weights(self.step, max(0.0, left), stages=[self.stage], trigger=self.trigger)

"""A step that was submitted: its put is under way, its weights can be asked for later."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future

from .put import PutReceipt
from .step_result import StepResult


class PendingStep:
    """
    What `submit` gives. The fields are encoded already, so the trainer may reuse its arrays; sending goes on in the background, scoring
    in the service. `result()` waits for what is left of it.
    """

    def __init__(
        self,
        step: int,
        trigger: int,
        stage: str,
        sent: Future[PutReceipt],
        timeout: float,
        is_settled: Callable[[], bool],
        weights: Callable[[float], StepResult],
    ) -> None:
        """timeout: seconds for put and weights together. is_settled, weights: of the stage's pipelines, the latter given seconds."""
        self.step = step
        self.trigger = trigger
        self.stage = stage
        self._sent = sent
        self._end = time.monotonic() + timeout
        self._is_settled = is_settled
        self._weights = weights

    def sent(self, timeout: float | None = None) -> PutReceipt:
        """Waits for the put alone. Raises what a put raises, and the builtin TimeoutError."""
        return self._sent.result(timeout)

    def done(self) -> bool:
        """Whether `result()` would answer at once."""
        if not self._sent.done():
            return False
        failed = self._sent.cancelled() or self._sent.exception() is not None
        return failed or self._is_settled()

    def result(self, timeout: float | None = None) -> StepResult:
        """
        The weights of the pipelines of this stage. `timeout` in seconds from now; default: what is left of the run's `max_wait_ms` since
        submitting. Raises what a put and `weights` raise.
        """
        if self._sent.done():
            # Raises what a failed put raised, also when an earlier wait has raised it.
            self._sent.result()
        return self._weights(max(0.0, self._end - time.monotonic() if timeout is None else timeout))

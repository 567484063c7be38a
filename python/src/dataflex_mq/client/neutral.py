"""`on_unavailable: neutral`: steps that train without weights because the service was not there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import DataflexError
from .put import PutReceipt

log = logging.getLogger("dataflex_mq")

# The codes that it covers: the service was unavailable. Wrong input and a failing scorer are never covered.
UNAVAILABLE = (
    *("TIMEOUT", "EXPIRED", "POISON", "COMPUTE_LOST"),
    *("REDIS_UNREACHABLE", "REDIS_FULL", "REDIS_REFUSED", "REDIS_DENIED"),
)


class NeutralSteps:
    """`count`: steps that trained without weights."""

    def __init__(self, handle: Mapping[str, Any]) -> None:
        self.count = 0
        self._neutral = handle["on_unavailable"] == "neutral"
        self._put_failed: dict[str, DataflexError] = {}
        self._trained: dict[str, DataflexError] = {}
        # Steps that trained without weights and whose release did not arrive.
        self._unreported = 0

    def covers(self, caught: DataflexError) -> bool:
        return self._neutral and caught.code in UNAVAILABLE

    def sent(self, at: str, send: Callable[[], PutReceipt], attempt: int) -> PutReceipt:
        """The put's receipt; UNAVAILABLE, and remembered, where its error is covered."""
        try:
            receipt = send()
        except DataflexError as caught:
            if not self.covers(caught):
                raise
            self._put_failed.setdefault(at, caught)
            return PutReceipt([], attempt, "UNAVAILABLE")
        self._put_failed.pop(at, None)
        return receipt

    def check(self, at: str) -> None:
        """Raises the error that kept a put of the step from arriving: there are no weights to wait for."""
        if at in self._put_failed:
            raise self._put_failed[at]

    def trained(self, at: str, caught: DataflexError) -> None:
        """Counts and logs a step that trains without weights."""
        self.count += 1
        self._trained[at] = caught
        log.warning("step %s trains without weights (on_unavailable: neutral): %s", at, caught)

    def weighed(self, at: str) -> None:
        """The step got its weights after all."""
        self._trained.pop(at, None)

    def patience(self, at: str, seconds: float) -> float:
        """How long to try a put or the release of a step: only once where Redis was away, or refused, a moment ago."""
        caught = self._trained.get(at) or self._put_failed.get(at)
        return 0.0 if caught is not None and caught.code.startswith("REDIS_") else seconds

    def report(self, at: str, report: dict[str, Any] | None) -> dict[str, Any] | None:
        """A release's report, with the steps without weights: this one, and those whose own release was lost."""
        caught = self._trained.get(at)
        if report is None and caught is None:
            return None
        neutral = {} if caught is None else {"neutral": caught.code}
        unreported = {"unreported": self._unreported} if self._unreported else {}
        return {"wait_ms": 0.0, **(report or {}), **neutral, **unreported}

    def released(self, at: str, arrived: bool) -> None:
        """The step's release ended: it arrived, or there was no answer."""
        if arrived:
            self._unreported = 0
        elif at in self._trained:
            self._unreported += 1
        self._put_failed.pop(at, None)
        self._trained.pop(at, None)

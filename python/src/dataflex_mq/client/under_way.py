"""Puts that `submit` has not sent yet, or failed to send."""

from __future__ import annotations

import os
import time
from concurrent.futures import Future, wait

from .put import PutReceipt


class UnderWay:
    """By process and step, so that a wait for the step raises a failed put sooner than its own deadline."""

    def __init__(self) -> None:
        self._sent: dict[tuple[int, str], list[Future[PutReceipt]]] = {}

    def add(self, at: str, sent: Future[PutReceipt]) -> None:
        self._sent.setdefault((os.getpid(), at), []).append(sent)

    def wait(self, at: str, seconds: float) -> float:
        """Waits for what was submitted of the step; answers the seconds left. Raises what a put raises, once."""
        key = os.getpid(), at
        under_way = self._sent.get(key, [])
        if not under_way:
            return seconds
        began = time.monotonic()
        for sent in wait(under_way, seconds).done:
            self._sent[key] = [other for other in self._sent.get(key, []) if other is not sent]
            sent.result()
        return max(0.0, seconds - (time.monotonic() - began))

    def forget(self, at: str) -> None:
        self._sent.pop((os.getpid(), at), None)

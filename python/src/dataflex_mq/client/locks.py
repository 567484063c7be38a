"""Locks that are open in a forked process: the thread that held one exists in the parent only."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType


class ProcessLock:
    def __init__(self) -> None:
        self._lock = threading.RLock()
        _LOCKS.add(self)

    def renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lock.release()


_LOCKS: weakref.WeakSet[ProcessLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_LOCKS):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)

"""The client's threads: one sends what `submit` was given, and one for each run keeps it alive. Both end with the process."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from .locks import ProcessLock

T = TypeVar("T")


class Sender:
    """One thread, started when first needed; a forked process starts its own."""

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    def submit(self, work: Callable[[], T]) -> Future[T]:
        with self._lock:
            if self._pool is None or self._pool[0] != os.getpid():
                self._pool = os.getpid(), ThreadPoolExecutor(1, thread_name_prefix="dataflex-mq-send")
            return self._pool[1].submit(work)

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None and pool[0] == os.getpid():
            pool[1].shutdown(wait=False, cancel_futures=True)


class Heartbeat:
    """Calls a method of `owner` every `seconds` until stopped, or until the owner is garbage-collected. It must not raise."""

    def __init__(self, owner: Any, method: str, seconds: float) -> None:
        self._owner = weakref.ref(owner)
        self._method = method
        self._seconds = seconds
        self._lock = ProcessLock()
        self._running: tuple[int, threading.Thread, threading.Event] | None = None

    def ensure(self) -> None:
        """Starts the thread unless this process has it already."""
        with self._lock:
            if self._running is not None and self._running[0] == os.getpid():
                return
            stop = threading.Event()
            arguments = (self._owner, self._method, self._seconds, stop)
            thread = threading.Thread(target=_beat, args=arguments, name="dataflex-mq-heartbeat", daemon=True)
            self._running = os.getpid(), thread, stop
            thread.start()

    def stop(self) -> Callable[[float], None]:
        """No beat begins from now on. The answer waits for one under way, at most so many seconds."""
        with self._lock:
            running, self._running = self._running, None
        if running is None or running[0] != os.getpid():
            return lambda seconds: None
        _, thread, ended = running
        ended.set()
        return lambda seconds: thread.join(timeout=max(0.0, seconds))


def _beat(owner: weakref.ref[Any], method: str, seconds: float, stop: threading.Event) -> None:
    while not stop.wait(seconds):
        held = owner()
        if held is None:
            return
        getattr(held, method)()
        del held

"""Steps that the trainer has released: they stay released, also when Redis comes back without them."""

from __future__ import annotations

from ..redis.commits import release_step
from ..redis.connect import Connections
from ..redis.keys import run_keys
from ..redis.mounts import Handle
from .locks import ProcessLock

# How many of the newest are kept: another producer keeps its part of a released step only for a few of its heartbeats.
REMEMBERED = 256


class ReleasedSteps:
    def __init__(self, connections: Connections, handle: Handle) -> None:
        self._connections = connections
        self._handle = handle
        self._lock = ProcessLock()
        self._steps: dict[str, None] = {}

    def add(self, at: str) -> None:
        with self._lock:
            self._steps.pop(at, None)
            self._steps[at] = None
            if len(self._steps) > REMEMBERED:
                del self._steps[next(iter(self._steps))]

    def tend(self) -> None:
        """Releases again what Redis has lost the tombstones of."""
        with self._lock:
            steps = list(self._steps)
        if not steps:
            return
        keys, incarnation = run_keys(self._handle["run"]), self._handle["incarnation"]
        asked = [("HEXISTS", keys.step(incarnation, at).status, "released") for at in steps]
        for at, there in zip(steps, self._connections.pipeline(asked), strict=True):
            if there == 0:
                release_step(self._connections, self._handle, at, b"")

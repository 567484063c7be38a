"""Copies of acknowledged puts, by step: enough to put them again if Redis loses them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from .prepare import PreparedPut
from .rows import KeyTable

# Maximum size of all copies of one producer's puts together.
MAX_KEPT_BYTES = 1 << 30


@dataclass(slots=True)
class KeptPut:
    """attempt: of the step, as the receipt named it. renewed: time.monotonic() when the put's stream got its TTL."""

    put: PreparedPut
    table: KeyTable | None
    attempt: int
    renewed: float = field(default_factory=time.monotonic)

    @property
    def name(self) -> str:
        """A put is made again under its id."""
        return f"{self.put.header['stage']}:{self.put.header['id']}"


@dataclass(slots=True)
class _KeptStep:
    puts: dict[str, KeptPut] = field(default_factory=dict)
    settled: bool = False


class KeptPuts:
    """Not for several threads at once: `OpenSteps` holds its lock. `dropped`: copies dropped because all together had become too large."""

    def __init__(self, most: int = MAX_KEPT_BYTES) -> None:
        self._most = most
        self._steps: dict[str, _KeptStep] = {}
        self._bytes = 0
        self.dropped = 0

    def of(self, at: str) -> list[KeptPut]:
        return list(self._steps[at].puts.values()) if at in self._steps else []

    def keep(self, at: str, kept: KeptPut) -> None:
        step = self._steps.setdefault(at, _KeptStep())
        step.settled = False
        before = step.puts.get(kept.name)
        self._bytes += kept.put.header["bytes"] - (before.put.header["bytes"] if before else 0)
        step.puts[kept.name] = kept
        self._fit(at)

    def settled(self, at: str, settled: bool) -> None:
        """Whether every pipeline of the step has its outcome: such a step loses its copies first."""
        if at in self._steps:
            self._steps[at].settled = settled

    def drop(self, at: str, kept: KeptPut) -> None:
        """Drops this very copy; one that was made since is kept."""
        puts = self._steps[at].puts if at in self._steps else {}
        if puts.get(kept.name) is kept:
            del puts[kept.name]
            self._bytes -= kept.put.header["bytes"]

    def forget(self, at: str) -> None:
        for kept in self.of(at):
            self.drop(at, kept)
        self._steps.pop(at, None)

    def _fit(self, current: str) -> None:
        """Settled steps first, then the oldest; never the one at hand."""
        for at in sorted(self._steps, key=lambda at: not self._steps[at].settled):
            if self._bytes <= self._most:
                return
            if at != current:
                self.dropped += len(self._steps[at].puts)
                self.forget(at)

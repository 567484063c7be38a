"""From a step's outcomes in Redis to its results and rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from ..errors import DataflexError
from ..redis.connect import Connections
from ..redis.keys import run_keys
from ..redis.mounts import Handle
from .align import StepRows, last_stage, rows_of_step
from .open_steps import OpenSteps
from .outcomes import PipelineResult, decode_outcome
from .wait import StepWait

# One round trip.
LOOK_SECONDS = 2.0
# One value of 32 MiB at most.
KEYS_SECONDS = 10.0
# One small script: if it takes longer, Redis counts as unreachable.
SCRIPT_SECONDS = 30.0

T = TypeVar("T")


class StepReading:
    """Reads steps of a run. `alive` raises where the run was closed or fenced."""

    def __init__(self, connections: Connections, handle: Handle, steps: OpenSteps, alive: Callable[[], None]) -> None:
        self._connections = connections
        self._handle = handle
        self._steps = steps
        self._alive = alive

    def before(self, at: str) -> list[PipelineResult] | None:
        """
        What was read before, unless somebody has replaced a put since. A Redis that has forgotten the step, or that is away, changes
        nothing: the outcome was of the very puts.
        """
        read = self._steps.read_before(at)
        if read is None:
            return None
        ask = partial(self._connections.execute, "HMGET", self._status(at), "attempt", "released")
        try:
            attempt, released = self._call(LOOK_SECONDS, "weights", ask)
        except DataflexError as caught:
            if caught.code in ("CLOSED", "FENCED"):
                raise
            attempt = released = None
        replaced = attempt is not None and int(attempt) > read[0]
        return None if released or replaced else read[1]

    def outcomes(self, at: str, expected: Sequence[dict[str, Any]], seconds: float) -> list[PipelineResult]:
        """Waits for the outcomes of the `expected` pipelines. Raises the failure that settled one of them, or TIMEOUT."""
        restore, accepts = partial(self._steps.restore, at), partial(self._steps.accepts, at)
        waiting = StepWait(self._connections, self._handle, at, expected, seconds, restore, accepts, self._alive)
        outcomes = waiting.collect()
        for outcome in outcomes.values():
            if outcome.header["kind"] == "failure":
                decode_outcome(self._handle, outcome)
        return [decode_outcome(self._handle, outcomes[pipeline["name"]]) for pipeline in expected]

    def rows(self, at: str, results: Sequence[PipelineResult]) -> StepRows | None:
        """The rows that the step's weights are for, and their order: this producer's own, where it named keys."""
        last = last_stage(results)
        if last is None:
            return None
        table = self._call(KEYS_SECONDS, f"the row keys of step {at}", partial(self._steps.keys_of, at, last))
        return rows_of_step(results, last, table, self._steps.order(at, last))

    def is_settled(self, at: str, pipelines: Sequence[str]) -> bool:
        if not pipelines:
            return True
        ask = partial(self._connections.execute, "HMGET", self._status(at), *(f"settled:{name}" for name in pipelines))
        return None not in self._call(SCRIPT_SECONDS, f"status of step {at}", ask)

    def _status(self, at: str) -> str:
        return run_keys(self._handle["run"]).step(self._handle["incarnation"], at).status

    def _call(self, seconds: float, what: str, work: Callable[[], T]) -> T:
        self._alive()
        return self._connections.call(seconds, what, work)

"""Checks of a caller's arguments, before anything is sent: what Redis has accepted can only be settled as a failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import error
from ..protocol.stages import STAGES
from ..redis.keys import step_key

# A day, like `max_wait_ms`: a longer timeout is most likely in the wrong unit.
MAX_SECONDS = 86_400.0


def check_run_id(run_id: Any) -> None:
    """Raises INVALID_INPUT."""
    if not isinstance(run_id, str) or run_id == "":
        raise error("INVALID_INPUT", f"run_id is {run_id!r}: give the run a name", {"run_id": repr(run_id)})


def check_fields(fields: Any) -> None:
    """Raises INVALID_INPUT."""
    if not isinstance(fields, Mapping):
        message = f"fields is a {type(fields).__name__}; send a mapping of names to arrays"
        raise error("INVALID_INPUT", message, {"argument": "fields"})


def whole_number(value: Any, name: str) -> int:
    """Raises INVALID_INPUT."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise error("INVALID_INPUT", f"{name} is {value!r}; it must be a whole number", {"argument": name})
    return int(value)


def step_at(step: Any, trigger: Any) -> str:
    """The step as it appears in keys. Raises INVALID_INPUT."""
    for name, value in (("step", step), ("trigger", trigger)):
        if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= int(value) < 2**53:
            raise error("INVALID_INPUT", f"{name} is {value!r}; it must be a whole number ≥ 0", {name: repr(value)})
    return step_key(int(step), int(trigger))


def check_stage(stage: Any) -> None:
    """Raises INVALID_INPUT."""
    if stage == "in_loss":
        why = "a weight inside the loss needs the current policy's gradients, which never travel"
        raise error("INVALID_INPUT", f"there is no stage in_loss: {why}", {"stage": stage})
    if stage not in STAGES:
        message = f"stage is {stage!r}; it must be one of {', '.join(STAGES)}"
        raise error("INVALID_INPUT", message, {"stage": repr(stage)})


def check_stages(stages: Any) -> None:
    """Of a wait; None: all. Raises INVALID_INPUT."""
    if stages is None:
        return
    if isinstance(stages, str) or not isinstance(stages, Iterable):
        raise error("INVALID_INPUT", f"stages is {stages!r}; it is a list of stages", {"argument": "stages"})
    for stage in stages:
        check_stage(stage)


def seconds_of(timeout: Any, name: str) -> float:
    """Raises INVALID_INPUT."""
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 <= timeout <= MAX_SECONDS:
        message = f"{name} is {timeout!r}; it must be a number of seconds from 0 to {MAX_SECONDS:g} (a day)"
        raise error("INVALID_INPUT", message, {"argument": name})
    return float(timeout)


def check_wait(seconds: float, max_wait_ms: int) -> float:
    """A wait longer than the service's own would end with EXPIRED before its time. Raises INVALID_INPUT."""
    if seconds <= max_wait_ms / 1000:
        return seconds
    message = (
        f"timeout is {seconds:g} s, above this run's max_wait_ms of {max_wait_ms}, after which the service gives a step up: "
        "raise max_wait_ms in the dataflex block"
    )
    raise error("INVALID_INPUT", message, {"argument": "timeout", "max_wait_ms": max_wait_ms})

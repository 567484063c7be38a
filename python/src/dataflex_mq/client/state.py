"""What a pipeline remembers of earlier steps, as plain data for the trainer's checkpoint."""

from __future__ import annotations

import math
import re
from typing import Any

from ..errors import error
from ..protocol.codec import pack, unpack
from ..redis.connect import Connections
from ..redis.mounts import Handle, restore_run
from ..redis.state_store import read_state, restore_state
from ..sentences import sentence

SavedState = dict[str, Any]


def save_state(connections: Connections, handle: Handle, pipeline: str) -> SavedState:
    """`{"v": 1, "pipeline", "steps": {step key: {"inc", "by", "values"}}}`; JSON keeps it. Raises INVALID_INPUT, DECODE."""
    found = read_state(connections, handle, _owner(handle, pipeline))
    steps = {step: _unpack_entry(entry) for step, entry in found.items()}
    return {"v": 1, "pipeline": pipeline, "steps": steps}


def load_state(connections: Connections, handle: Handle, pipeline: str, saved: Any) -> None:
    """Puts a saved state in the place of what Redis has. Raises INVALID_INPUT, FENCED, NOT_MOUNTED, REDIS_FULL."""
    owner = _owner(handle, pipeline)
    entries = {step: pack([entry["inc"], entry["by"], entry["values"]]) for step, entry in _check(saved).items()}
    word = ""
    for _ in range(2):
        word = restore_state(connections, handle, owner, entries)
        if word != "NOT_MOUNTED" or not restore_run(connections, handle):
            break
    if word != "OK":
        why = sentence(word, run=handle["run"], incarnation=handle["incarnation"])
        message = f'the state of pipeline "{pipeline}" was not restored: {why}'
        raise error(word, message, {"run": handle["run"], "pipeline": pipeline})


def _owner(handle: Handle, pipeline: str) -> str:
    """The name that Redis keeps the pipeline's state under."""
    having = {spec["name"]: owner for spec in handle["pipelines"] if (owner := _state_of(spec))}
    if pipeline in having:
        return having[pipeline]
    known = any(spec["name"] == pipeline for spec in handle["pipelines"])
    why = f'pipeline "{pipeline}" remembers nothing' if known else f'there is no pipeline "{pipeline}"'
    message = f"{why}; pipelines with a state: {', '.join(having) or 'none'}"
    raise error("INVALID_INPUT", message, {"pipeline": pipeline, "having": list(having)})


def _state_of(spec: dict[str, Any]) -> str | None:
    """The pipeline whose state this one's results depend on; None for those that look at their step alone."""
    if policy := spec.get("policy"):
        return policy["fed_by"] if policy["role"] == "select" else None
    return spec["name"] if spec["mechanism"] == "mix" or spec.get("remembers") else None


def _unpack_entry(data: bytes) -> dict[str, Any]:
    entry = unpack(data)
    if isinstance(entry, list) and len(entry) == 3:
        checked = {"inc": entry[0], "by": entry[1], "values": entry[2]}
        if _is_entry(checked):
            return checked
    raise error("DECODE", "a step's entry in a pipeline's state cannot be read: was the key written by hand?")


def _check(saved: Any) -> dict[str, Any]:
    if not isinstance(saved, dict) or saved.get("v") != 1 or not isinstance(saved.get("steps"), dict):
        raise error("INVALID_INPUT", "this is no saved state: pass what mix_state(pipeline) gave, unchanged")
    for key, entry in saved["steps"].items():
        if not re.fullmatch(r"\d+\.\d+", key) or not _is_entry(entry):
            message = f'the saved state\'s step "{key}" cannot be read: is the checkpoint whole?'
            raise error("INVALID_INPUT", message, {"step": key})
    return saved["steps"]


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("inc"), int) or not isinstance(entry.get("by"), str):
        return False
    values = entry.get("values")
    return isinstance(values, list) and all(_is_value(value) for value in values)


def _is_value(value: Any) -> bool:
    if not isinstance(value, (list, tuple)) or not value or not isinstance(value[0], str):
        return False
    return all(isinstance(one, (int, float)) and not isinstance(one, bool) and math.isfinite(one) for one in value[1:])

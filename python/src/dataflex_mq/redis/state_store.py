"""What Redis keeps of a pipeline that remembers: one entry a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .connect import Connections, text
from .keys import STATE_TTL_MS, run_keys
from .mounts import Handle
from .scripts import ScriptCall


def read_state(connections: Connections, handle: Handle, pipeline: str) -> dict[str, bytes]:
    """Packed entries by step key."""
    found = connections.execute("HGETALL", run_keys(handle["run"]).state(pipeline))
    return {text(step): entry for step, entry in found.items() if text(step) != "head"}


def restore_state(connections: Connections, handle: Handle, pipeline: str, entries: Mapping[str, bytes]) -> str:
    """Puts entries in the place of those that Redis has. Answers OK, FENCED or NOT_MOUNTED."""
    keys = run_keys(handle["run"])
    args: list[Any] = [handle["incarnation"], STATE_TTL_MS]
    for step, entry in entries.items():
        args += [step, entry]
    return connections.run_script(ScriptCall("restore_state", [keys.mount, keys.state(pipeline)], args))[0]

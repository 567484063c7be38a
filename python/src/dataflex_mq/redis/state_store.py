"""What Redis keeps of a pipeline that remembers: one entry a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .connect import Connections, text
from .keys import STATE_TTL_MS, run_keys
from .mounts import Handle
from .scripts import ScriptCall

# Fields of a state's hash that are not steps.
NO_STEPS = ("head", "rev")
# Entries read at a time: each may have a hundred kilobytes, and Redis serves others in between.
AT_ONCE = 16
# Bytes of entries that one script takes at most, one entry at least.
PART_BYTES = 256 << 10


def read_state(connections: Connections, handle: Handle, pipeline: str) -> dict[str, bytes]:
    """Packed entries by step key."""
    key = run_keys(handle["run"]).state(pipeline)
    steps = [text(name) for name in connections.execute("HKEYS", key) if text(name) not in NO_STEPS]
    found: dict[str, bytes] = {}
    for start in range(0, len(steps), AT_ONCE):
        page = steps[start : start + AT_ONCE]
        entries = connections.execute("HMGET", key, *page)
        found.update({step: entry for step, entry in zip(page, entries, strict=True) if entry is not None})
    return found


def restore_state(connections: Connections, handle: Handle, pipeline: str, entries: Mapping[str, bytes]) -> str:
    """
    Puts entries in the place of those that Redis has, in parts that each keep it busy for a moment only. Answers OK, FENCED or NOT_MOUNTED.
    """
    keys = run_keys(handle["run"])
    for first, part in _parts(entries):
        args: list[Any] = [handle["incarnation"], STATE_TTL_MS, int(first), *part]
        word = connections.run_script(ScriptCall("restore_state", [keys.mount, keys.state(pipeline)], args))[0]
        if word != "OK":
            return word
    return "OK"


def _parts(entries: Mapping[str, bytes]) -> Iterator[tuple[bool, list[Any]]]:
    """At least one part, even without entries: the first clears what Redis has."""
    first, held = True, 0
    part: list[Any] = []
    for step, entry in entries.items():
        if held > 0 and held + len(entry) > PART_BYTES:
            yield first, part
            first, part, held = False, [], 0
        part += [step, entry]
        held += len(entry)
    yield first, part

"""Stream entries from redis-py's answers, in the shapes of every protocol and version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .connect import text


@dataclass(frozen=True, slots=True)
class Entry:
    """Field values stay bytes."""

    id: str
    fields: dict[str, bytes]


def read_answer(answer: Any) -> list[Entry]:
    """
    The entries of an XREAD of one stream. Protocol 2 answers [[key, entries]] and protocol 3 a map of key to entries, in some versions of
    redis-py inside one list more; None or nothing at all when no entry came.
    """
    if not answer:
        return []
    entries = next(iter(answer.values())) if isinstance(answer, dict) else answer[0][1]
    # The additional list: [[(id, fields), …]].
    if (
        len(entries) == 1
        and isinstance(entries[0], list)
        and entries[0]
        and not isinstance(entries[0][0], (bytes, str))
    ):
        entries = entries[0]
    return [Entry(text(entry[0]), _fields(entry[1])) for entry in entries]


def range_answer(answer: Any) -> list[Entry]:
    """The entries of an XRANGE."""
    return [Entry(text(entry[0]), _fields(entry[1])) for entry in answer or []]


def _fields(flat: Any) -> dict[str, bytes]:
    if flat is None:
        return {}
    if isinstance(flat, dict):
        return {text(name): value for name, value in flat.items()}
    return {text(name): value for name, value in zip(flat[::2], flat[1::2], strict=True)}

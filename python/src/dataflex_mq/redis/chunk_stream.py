"""
A body as chunk entries `0-1 … 0-n` of a stream of its own, field `b`: plain XADD with explicit ids. A chunk that is sent again is
answered "ID equal or smaller", which means that it is stored already. The first chunk's XADD and the key's TTL are one transaction, and
no later chunk makes the stream (a server may have lost the first): no chunk ever lies in Redis without an end. The commit checks that the
stream is whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import redis

from ..sentences import error_of
from .connect import Command, Connections
from .streams import range_answer

ALREADY_STORED = "equal or smaller"
# Bytes in flight before further chunks wait for an answer: bounds the buffers on both sides for bodies of gigabytes.
WINDOW_BYTES = 16 << 20


def windows(key: str, chunks: Sequence[bytes], ttl_ms: int) -> Iterator[list[Command]]:
    """The commands that store the chunks, as many together as may be under way; nothing for an empty body."""
    commands: list[Command] = []
    held = 0
    for number, chunk in enumerate(chunks, 1):
        if number == 1:
            commands += [("MULTI",), ("XADD", key, "0-1", "b", chunk), ("PEXPIRE", key, ttl_ms), ("EXEC",)]
        else:
            commands.append(("XADD", key, "NOMKSTREAM", f"0-{number}", "b", chunk))
        held += len(chunk)
        if held >= WINDOW_BYTES:
            yield commands
            commands, held = [], 0
    if commands:
        yield commands


def check_stored(answers: Sequence[Any]) -> None:
    """Raises the first error among the answers that is not "stored already"."""
    for answer in answers:
        inner = answer if isinstance(answer, list) else [answer]
        for one in inner:
            if isinstance(one, redis.exceptions.RedisError) and ALREADY_STORED not in str(one):
                raise one


def read_chunks(connections: Connections, key: str, count: int) -> list[bytes]:
    """All chunks of a stream, in order. Raises CHUNKS_MISSING."""
    entries = range_answer(connections.execute("XRANGE", key, "0-1", f"0-{count}"))
    if len(entries) != count:
        raise error_of("CHUNKS_MISSING.read", key=key, wanted=count, found=len(entries))
    return [entry.fields["b"] for entry in entries]

"""What Redis has of a step's puts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import error
from .connect import Connections, text
from .keys import StepKeys

# How many are requested at once.
AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class StoredPut:
    """`attempt`: of the step when the put was committed."""

    hash: str
    attempt: int


def read_stored_puts(connections: Connections, keys: StepKeys, names: Sequence[str]) -> list[StoredPut | None]:
    """names: `<stage>:<put id>`. Answers in their order; None for those that Redis does not have."""
    found: list[StoredPut | None] = []
    for at in range(0, len(names), AT_ONCE):
        found += map(_parse, connections.execute("HMGET", keys.puts, *names[at : at + AT_ONCE]))
    return found


def _parse(value: bytes | None) -> StoredPut | None:
    """`<hash>,<attempt>,<chunks>,<bytes>|<fields>`, as `commit-put` writes it."""
    if value is None:
        return None
    found = re.match(r"([0-9a-f]+),([0-9]{1,16}),", text(value))
    if found is None:
        raise error(
            "DECODE", f'malformed put: "{text(value)[:40]}". The writer and this reader may be of different versions'
        )
    return StoredPut(found[1], int(found[2]))

"""For properties: either it works, or one typed error comes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dataflex_mq.errors import DataflexError


@contextmanager
def refused_with(*codes: str) -> Iterator[None]:
    try:
        yield
    except DataflexError as caught:
        if caught.code not in codes:
            raise

"""The id of a put, and the hash that shows whether its content is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from .codec import pack


def put_id(stage: str, fields: Iterable[str], rows: Sequence[int]) -> str:
    """32 hex digits: half of SHA-256 over the packed `[stage, fields in ascending order, row ranges]`."""
    return _digest([pack([stage, sorted(fields), list(rows)])])


def content_hash(chunks: Iterable[bytes], columns: Sequence[dict[str, Any]]) -> str:
    """32 hex digits: half of SHA-256 over the body's bytes and then the packed column headers."""
    return _digest([*chunks, pack(columns)])


def _digest(pieces: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:32]

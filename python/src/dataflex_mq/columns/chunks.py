"""Bodies as chunks: cut at multiples of the chunk size; no chunk for an empty body."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def chunks_of(parts: Sequence[np.ndarray], chunk_bytes: int) -> list[bytes]:
    """
    The chunks of the body that the parts joined are. Chunks are copies: the trainer may reuse its arrays while a put is kept.

    parts: one-dimensional uint8 arrays.
    """
    chunks: list[bytes] = []
    pending: list[memoryview] = []
    held = 0
    for part in parts:
        view, at = part.data, 0
        while at < len(view):
            piece = view[at : at + chunk_bytes - held]
            pending.append(piece)
            at += len(piece)
            held += len(piece)
            if held == chunk_bytes:
                chunks.append(b"".join(pending))
                pending, held = [], 0
    if held > 0:
        chunks.append(b"".join(pending))
    return chunks

"""Row sets are sent as ascending, disjoint, half-open ranges `[start, stop, start, stop, …]`, none empty, none touching the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def ranges_of(rows: np.ndarray) -> list[int]:
    """Ranges of strictly ascending row numbers."""
    if len(rows) == 0:
        return []
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    starts = rows[np.concatenate(([0], breaks))]
    stops = rows[np.concatenate((breaks - 1, [len(rows) - 1]))] + 1
    return np.stack((starts, stops), axis=1).ravel().tolist()


def count_rows(ranges: Sequence[int]) -> int:
    return sum(ranges[1::2]) - sum(ranges[::2])


def rows_in(ranges: Sequence[int]) -> np.ndarray:
    """The rows, one by one."""
    pieces = [np.arange(start, stop) for start, stop in zip(ranges[::2], ranges[1::2], strict=True)]
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)


def to_bitmap(ranges: Sequence[int], total: int) -> bytes:
    """One bit per row, as Redis SETBIT counts: row r is bit `0x80 >> (r & 7)` of byte `r >> 3`. `ceil(total / 8)` bytes."""
    bits = np.zeros(total, dtype=bool)
    bits[rows_in(ranges)] = True
    return np.packbits(bits).tobytes()


def from_bitmap(bitmap: bytes, total: int) -> list[int]:
    """The ranges of the rows whose bit is set, of `total` rows."""
    return ranges_of(np.flatnonzero(np.unpackbits(np.frombuffer(bitmap, dtype=np.uint8), count=total)))


def count_bits(bitmap: bytes) -> int:
    return int(np.unpackbits(np.frombuffer(bitmap, dtype=np.uint8)).sum())

"""Memory for incoming frames, kept warm: the first touch of fresh memory costs more than the copy into it."""

from __future__ import annotations

import sys

import numpy as np

_ALIGNMENT = 64
_KEPT = 2
# References to a buffer that is not in use: the list, the loop's variable, getrefcount's argument.
_OWN_REFERENCES = 3


class Pool:
    """
    Reuses buffers to which nothing refers any more. A component that keeps a tensor keeps its buffer, and nothing writes
    into it.
    """

    def __init__(self) -> None:
        self._buffers: list[np.ndarray] = []

    def take(self, size: int) -> np.ndarray:
        """uint8 (size,), aligned to 64 bytes; what is in it is undefined."""
        if size == 0:
            return np.empty(0, dtype=np.uint8)
        free = [buffer for buffer in self._buffers if sys.getrefcount(buffer) <= _OWN_REFERENCES]
        fitting = [buffer for buffer in free if len(buffer) >= size + _ALIGNMENT]
        if fitting:
            found = min(fitting, key=len)
        else:
            # One that is referenced leaves the pool; of the free ones the largest stay.
            found = np.empty(size + size // 8 + _ALIGNMENT, dtype=np.uint8)
            kept = sorted(free, key=len, reverse=True)[: _KEPT - 1]
            self._buffers = [found, *kept]
        start = -found.ctypes.data % _ALIGNMENT
        return found[start : start + size]

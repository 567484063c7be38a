"""A padded token matrix in memory, read in blocks of rows that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .dtypes import bits_of
from .spans import Spans
from .token_source import check_holds

# Elements of a block: its words and two masks of it fit a core's cache. A block costs a few calls, so much smaller ones cost more.
BLOCK = 1 << 17


def blocks(rows: int, width: int) -> Iterator[tuple[int, int]]:
    """Row ranges of about BLOCK elements."""
    step = max(1, BLOCK // max(width, 1))
    for start in range(0, rows, step):
        yield start, min(start + step, rows)


def segments(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row and column at which each stretch of equal words begins; every row begins one. `bits` has a column at least."""
    rows, width = bits.shape
    begins = np.empty((rows, width), dtype=bool)
    begins[:, 0] = True
    np.not_equal(bits[:, 1:], bits[:, :-1], out=begins[:, 1:])
    return np.divmod(np.flatnonzero(begins), width)


class DenseSource:
    def __init__(self, field: str, dtype: str, data: np.ndarray, spans: Spans) -> None:
        check_holds(field, data.shape[1], spans)
        self.dtype = dtype
        self.spans = spans
        self._bits = bits_of(data)

    def is_row_constant(self) -> bool:
        firsts = self.firsts()
        prefix = self.spans.offsets is None and self._bits.shape[1] > 0
        for start, stop in self._blocks():
            if prefix:
                # One comparison suffices: no stretch may begin between a row's first token and its last.
                row, column = segments(self._bits[start:stop])
                if ((column > 0) & (column < self.spans.counts[start + row])).any():
                    return False
                continue
            differs = self._bits[start:stop] != firsts[start:stop, None]
            if self._any_inside(differs, start, stop):
                return False
        return True

    def is_last_only(self) -> bool:
        last = self.spans.ends() - 1
        for start, stop in self._blocks():
            nonzero = self._bits[start:stop] != 0
            rows = np.flatnonzero(last[start:stop] >= 0)
            nonzero[rows, last[start:stop][rows]] = False
            if self._any_inside(nonzero, start, stop):
                return False
        return True

    def count_nonzero(self, budget: int) -> int:
        count = 0
        for start, stop in self._blocks():
            count += int(np.count_nonzero(self._nonzero(start, stop)))
            if count > budget:
                break
        return count

    def firsts(self) -> np.ndarray:
        return self._at(self.spans.firsts())

    def lasts(self) -> np.ndarray:
        return self._at(self.spans.ends() - 1)

    def dense(self) -> np.ndarray:
        rows, width = self.spans.rows, self.spans.width
        if self.spans.whole and self._bits.shape[1] == width:
            return np.ascontiguousarray(self._bits).reshape(-1)
        out = np.zeros((rows, width), dtype=self._bits.dtype)
        held = self._bits.shape[1]
        for start, stop in self._blocks():
            inside = self.spans.inside(start, stop)[:, :held]
            np.copyto(out[start:stop, :held], self._bits[start:stop], where=inside)
        return out.reshape(-1)

    def jagged(self) -> np.ndarray:
        out = np.empty(self.spans.total, dtype=self._bits.dtype)
        at = 0
        for start, stop in self._blocks():
            piece = self._bits[start:stop][self._inside(start, stop)]
            out[at : at + len(piece)] = piece
            at += len(piece)
        return out

    def sparse(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        counts = np.zeros(self.spans.rows, dtype=np.int32)
        index: list[np.ndarray] = [np.zeros(0, dtype=np.int32)]
        values: list[np.ndarray] = [np.zeros(0, dtype=self._bits.dtype)]
        for start, stop in self._blocks():
            row, column = np.nonzero(self._nonzero(start, stop))
            counts[start:stop] = np.bincount(row, minlength=stop - start)
            index.append(column.astype(np.int32))
            values.append(self._bits[start + row, column])
        return counts, np.concatenate(index), np.concatenate(values)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        return blocks(self.spans.rows, self._bits.shape[1])

    def _inside(self, start: int, stop: int) -> np.ndarray:
        # A mask from an earlier put may be wider than this field; what it has there is out of scope, or check_holds had refused.
        return self.spans.inside(start, stop)[:, : self._bits.shape[1]]

    def _nonzero(self, start: int, stop: int) -> np.ndarray:
        nonzero = self._bits[start:stop] != 0
        if not self.spans.whole:
            nonzero &= self._inside(start, stop)
        return nonzero

    def _any_inside(self, found: np.ndarray, start: int, stop: int) -> bool:
        if not found.any():
            return False
        return self.spans.whole or bool((found & self._inside(start, stop)).any())

    def _at(self, columns: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(self.spans.counts > 0)
        out = np.zeros(self.spans.rows, dtype=self._bits.dtype)
        out[rows] = self._bits[rows, columns[rows]]
        return out

"""A ragged token matrix in memory: the tokens in scope are laid side by side once (in place when there are no others)."""

from __future__ import annotations

import numpy as np

from .dtypes import bits_of
from .spans import Spans
from .token_source import check_holds


class FlatSource:
    def __init__(self, field: str, dtype: str, values: np.ndarray, lengths: np.ndarray, spans: Spans) -> None:
        check_holds(field, lengths, spans)
        self.dtype = dtype
        self.spans = spans
        bits = bits_of(values)
        self._flat = bits if spans.total == len(bits) else bits[spans.flat_inside(lengths)]
        self._starts = np.concatenate(([0], np.cumsum(spans.counts, dtype=np.int64)))

    def is_row_constant(self) -> bool:
        differs = self._flat[1:] != self._flat[:-1]
        # Where one row follows another they may differ. Empty rows at either end begin before or behind the pairs.
        begins = self._starts[1:-1]
        differs[begins[(begins > 0) & (begins < len(self._flat))] - 1] = False
        return not differs.any()

    def is_last_only(self) -> bool:
        nonzero = self._flat != 0
        nonzero[self._starts[1:][self.spans.counts > 0] - 1] = False
        return not nonzero.any()

    def count_nonzero(self, budget: int) -> int:
        return int(np.count_nonzero(self._flat))

    def firsts(self) -> np.ndarray:
        return self._at(self._starts[:-1])

    def lasts(self) -> np.ndarray:
        return self._at(self._starts[1:] - 1)

    def dense(self) -> np.ndarray:
        out = np.zeros(self.spans.rows * self.spans.width, dtype=self._flat.dtype)
        out[self._places()] = self._flat
        return out

    def jagged(self) -> np.ndarray:
        return self._flat

    def sparse(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = np.flatnonzero(self._flat != 0)
        rows = np.repeat(np.arange(self.spans.rows), self.spans.counts)[found]
        counts = np.bincount(rows, minlength=self.spans.rows).astype(np.int32)
        places = self._places()[found] - rows.astype(np.int64) * self.spans.width
        return counts, places.astype(np.int32), self._flat[found]

    def _places(self) -> np.ndarray:
        """The position of each token in scope in the padded matrix."""
        spans = self.spans
        return np.flatnonzero(spans.inside(0, spans.rows).reshape(-1))

    def _at(self, places: np.ndarray) -> np.ndarray:
        out = np.zeros(self.spans.rows, dtype=self._flat.dtype)
        rows = self.spans.counts > 0
        out[rows] = self._flat[places[rows]]
        return out

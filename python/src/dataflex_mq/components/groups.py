"""Statistics over rows that share a string."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Arrays, to_numpy


class Groups:
    """
    Groups of rows, numbered in order of first appearance. Statistics count of each session only its last row, since a session may leave
    several rows of one outcome; they are float64 and come back spread to every row of the group.
    """

    def __init__(self, keys: list[str], counted: np.ndarray, arrays: Arrays) -> None:
        numbers: dict[str, int] = {}
        self._of = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
        self._counted = counted.astype(bool)
        self._arrays = arrays
        self.names = list(numbers)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def index(self) -> Any:
        """The group of each row, (n,), int64."""
        return self._arrays.give(self._of.copy())

    def members(self) -> list[list[int]]:
        """The rows of each group."""
        order = np.argsort(self._of, kind="stable")
        return [rows.tolist() for rows in np.split(order, np.cumsum(np.bincount(self._of, minlength=len(self)))[:-1])]

    def count(self) -> Any:
        """How many rows statistics count, (n,)."""
        return self._spread(self._sum(np.ones(len(self._of))))

    def sum(self, values: Any) -> Any:
        """Sum over each row's group, (n,). `values` (n,)."""
        return self._spread(self._sum(self._rows(values)))

    def mean(self, values: Any) -> Any:
        """Mean over each row's group, (n,). `values` (n,)."""
        return self._spread(self._mean(self._rows(values)))

    def std(self, values: Any) -> Any:
        """Unbiased deviation over each row's group, (n,); 0 in a group of one. `values` (n,)."""
        rows = self._rows(values)
        squares = self._sum((rows - self._mean(rows)[self._of]) ** 2)
        counts = self._sum(np.ones(len(rows)))
        return self._spread(np.sqrt(squares / np.maximum(counts - 1, 1)))

    def _mean(self, rows: np.ndarray) -> np.ndarray:
        return self._sum(rows) / np.maximum(self._sum(np.ones(len(rows))), 1)

    def _sum(self, rows: np.ndarray) -> np.ndarray:
        return np.bincount(self._of, weights=rows * self._counted, minlength=len(self))

    def _spread(self, values: np.ndarray) -> Any:
        return self._arrays.give(values[self._of])

    def _rows(self, values: Any) -> np.ndarray:
        rows = to_numpy(values)
        if rows is None or rows.shape != self._of.shape:
            raise ValueError(f"one number for each of {len(self._of)} rows is wanted")
        return rows.astype(np.float64)

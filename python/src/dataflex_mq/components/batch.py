"""A step's rows as a component of our own form sees them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from .arrays import Arrays
from .groups import Groups
from .step_columns import StepColumns


@dataclass(frozen=True)
class Jagged:
    """Tokens without padding: row i owns `values[offsets[i]:offsets[i + 1]]`. `values` (tokens,), `offsets` (rows + 1,), int64."""

    values: Any
    offsets: Any

    @property
    def lengths(self) -> Any:
        """Tokens of each row, (rows,)."""
        return self.offsets[1:] - self.offsets[:-1]

    def rows(self) -> list[Any]:
        """The tokens of each row, as views."""
        bounds = self.offsets.tolist()
        return [self.values[start:stop] for start, stop in pairwise(bounds)]

    def sum(self) -> Any:
        """Sum of each row's tokens, (rows,) in float64; 0 for a row without any."""
        if isinstance(self.values, np.ndarray):
            running = np.concatenate(([0.0], np.cumsum(self.values, dtype=np.float64)))
            return running[self.offsets[1:]] - running[self.offsets[:-1]]
        import torch

        lengths, device = self.lengths, self.values.device
        # With its size given, nothing waits for the GPU to tell it.
        rows = torch.arange(len(lengths), device=device).repeat_interleave(lengths, output_size=len(self.values))
        sums = torch.zeros(len(lengths), dtype=torch.float64, device=device)
        return sums.index_add(0, rows, self.values.double())

    def mean(self) -> Any:
        """Mean of each row's tokens, (rows,) in float64; 0 for a row without any."""
        lengths = self.lengths
        return self.sum() / (np.maximum(lengths, 1) if isinstance(lengths, np.ndarray) else lengths.clamp(min=1))


class Batch:
    """
    The live rows of one step: rows that only fill the batch up, and rows without an unmasked token, are not here. What it hands out is on
    `ctx.device`, writable, and the component's own.

    Every method that takes a field's name raises KeyError for one that `requires` does not name, TypeError for one of another form.
    """

    def __init__(self, columns: StepColumns, arrays: Arrays) -> None:
        self._columns = columns
        self._arrays = arrays

    def __len__(self) -> int:
        return self._columns.rows

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that can be read."""
        return tuple(self._columns.fields)

    @property
    def width(self) -> int:
        """L: tokens of the longest response."""
        return self._columns.longest

    def jagged(self, name: str) -> Jagged:
        """A field's tokens without padding: those under the mask, or, if it was required with scope `response`, every response token."""
        values, counts = self._columns.flat(name)
        offsets = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        return Jagged(self._arrays.give(values, self._columns.dtype(name)), self._arrays.give(offsets))

    def padded(self, name: str) -> Any:
        """A field as a matrix (n, L), 0 outside its tokens."""
        return self._arrays.give(self._columns.padded(name), self._columns.dtype(name))

    def rows(self, name: str) -> Any:
        """A field of one number per row, (n,)."""
        return self._arrays.give(self._columns.vector(name), self._columns.dtype(name))

    def features(self, name: str) -> Any:
        """A field of a vector of numbers per row, (n, d)."""
        return self._arrays.give(self._columns.features(name), self._columns.dtype(name))

    def strings(self, name: str) -> list[str]:
        """A field of one string per row."""
        return self._columns.strings(name)

    @property
    def mask(self) -> Any:
        """bool (n, L): the tokens that count."""
        return self._arrays.give(self._columns.mask_matrix(bool))

    @property
    def lengths(self) -> Any:
        """Tokens under the mask of each row, (n,), int64."""
        return self._arrays.give(self._columns.mask.counts.astype(np.int64))

    @cached_property
    def groups(self) -> Groups:
        """Rows that share a `uid`. Raises KeyError unless `requires` names it."""
        return self.groups_by("uid")

    def groups_by(self, name: str) -> Groups:
        """Rows that share a string."""
        return Groups(self._columns.strings(name), self._columns.counted, self._arrays)

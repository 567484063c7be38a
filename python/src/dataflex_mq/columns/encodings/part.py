"""Parts of an encoded column, and reading them: every size is checked before anything is built from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ...errors import error
from ..dtypes import DTYPE_BYTES, STORAGE
from ..limits import MAX_INDEXED, Limits

# name, bytes; in body order
Parts = list[tuple[str, np.ndarray]]

ALIGNMENT = 8


def padded(size: int) -> int:
    """`size` rounded up to the alignment of parts."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def bytes_of(data: np.ndarray) -> np.ndarray:
    """The bytes of an array, in place where it is contiguous."""
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8)


def i32(values: np.ndarray) -> np.ndarray:
    return bytes_of(values.astype("<i4", copy=False))


@dataclass(frozen=True, slots=True)
class DecodeInput:
    """A checked header and its parts. `width` is 0 for vectors and strings."""

    name: str
    enc: str
    dtype: str
    rows: int
    width: int
    matrix: bool
    scope: str
    distinct: int
    limits: Limits
    parts: dict[str, tuple[int, int]]
    part: Callable[[str], np.ndarray]
    # A matrix of features: its width is its own, and it has no scope.
    features: bool = False

    def exact(self, part: str, expected: int) -> np.ndarray:
        """Bytes of a part, which must be exactly `expected`."""
        found = self.part(part)
        if len(found) != expected:
            malformed(
                self.name,
                f'part "{part}" has {len(found)} bytes, {self.enc} of this shape needs {expected}',
                {"part": part},
            )
        return found

    def read_i32(self, part: str, count: int) -> np.ndarray:
        return self.exact(part, 4 * count).view("<i4")

    def per_row(self, part: str, most: int) -> np.ndarray:
        """An i32 part with one entry per row, each within [0, most]."""
        values = self.read_i32(part, self.rows)
        wrong = np.flatnonzero((values < 0) | (values > most))
        if len(wrong) > 0:
            row = int(wrong[0])
            malformed(
                self.name,
                f'part "{part}" says {int(values[row])} in row {row}, outside [0, {most}]',
                {"part": part, "row": row},
            )
        return values

    def response_lengths(self) -> np.ndarray | None:
        """Response lengths, where a column of scope `response` carries them."""
        if "lengths" not in self.parts:
            return None
        if self.scope != "response":
            malformed(self.name, 'part "lengths" belongs to scope "response" only')
        return self.per_row("lengths", self.width)

    def values(self, count: int, locate: Callable[[int], dict[str, int]]) -> np.ndarray:
        """The part "values", `count` elements. Checks what an element of i64 or bool may be; `locate` says where one lies."""
        found = self.exact("values", count * DTYPE_BYTES[self.dtype]).view(STORAGE[self.dtype])
        wrong: np.ndarray = np.zeros(0, dtype=np.int64)
        if self.dtype == "i64":
            wrong = np.flatnonzero((found > 2**53) | (found < -(2**53)))
        elif self.dtype == "bool":
            wrong = np.flatnonzero(found > 1)
        if len(wrong) > 0:
            at = locate(int(wrong[0]))
            where = ", ".join(f"{key} {value}" for key, value in at.items())
            why = "lies beyond ±2^53" if self.dtype == "i64" else "is not 0 or 1"
            malformed(self.name, f"the {self.dtype} {int(found[wrong[0]])} in {where} {why}", at)
        return found


def offsets_of(name: str, counts: np.ndarray) -> np.ndarray:
    """Running sums, rows + 1 entries, of counts that are already checked."""
    offsets = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    if offsets[-1] > MAX_INDEXED:
        malformed(name, "it declares more than 2^31 - 1 tokens")
    return offsets


def by_row(element: int) -> dict[str, int]:
    return {"row": element}


def by_matrix(width: int) -> Callable[[int], dict[str, int]]:
    return lambda element: {"row": element // width, "column": element % width}


def by_offsets(offsets: np.ndarray, index: np.ndarray | None = None) -> Callable[[int], dict[str, int]]:
    """For elements stored row after row; the column is that of `index`, or counts the row's stored elements."""

    def locate(element: int) -> dict[str, int]:
        row = int(np.searchsorted(offsets, element, side="right")) - 1
        return {"row": row, "column": int(element - offsets[row] if index is None else index[element])}

    return locate


def malformed(name: str, why: str, details: dict[str, Any] | None = None) -> NoReturn:
    raise error("DECODE", f'Column "{name}" is malformed: {why}.', {"field": name, **(details or {})})

"""What the encoder takes, what the decoder gives, and where the tokens of a put lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# `mask`: only tokens whose response_mask is 1 matter. `response`: every response token. Encodings are lossless over the scope.
SCOPES = ("mask", "response")
ENCODINGS = ("dense", "jagged", "row", "last", "sparse", "lengths", "runs", "strings")

Header = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense tensor `(rows,)` or `(rows, width)` in the storage of its dtype (bf16 as 16-bit words)."""

    dtype: str
    data: np.ndarray

    @property
    def rows(self) -> int:
        return int(self.data.shape[0])


@dataclass(frozen=True, slots=True)
class Jagged:
    """A ragged token matrix: `values` holds each row's tokens, row after row. `width` is the padded width that it represents."""

    dtype: str
    values: np.ndarray
    lengths: np.ndarray
    width: int

    @property
    def rows(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True, slots=True)
class Features:
    """A vector of numbers a row, (rows, d), in the storage of its dtype; `d` has nothing to do with tokens."""

    dtype: str
    data: np.ndarray

    @property
    def rows(self) -> int:
        return int(self.data.shape[0])


@dataclass(frozen=True, slots=True)
class Strings:
    """One string per row."""

    values: list[str]

    @property
    def rows(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class VectorColumn:
    """`(rows,)`: one number a row."""

    dtype: str
    rows: int
    values: np.ndarray


@dataclass(frozen=True, slots=True)
class FeaturesColumn:
    """`values` (rows, d): a vector of numbers a row."""

    dtype: str
    rows: int
    values: np.ndarray


@dataclass(frozen=True, slots=True)
class TokenColumn:
    """
    A token matrix. `values` by kind: `dense` (rows, width); `jagged` the tokens in scope, row after row; `row`, `last` (rows,); `sparse`
    those at `index`. `offsets` (rows + 1) says which entries of `values` (jagged, sparse) belong to which row. `response_lengths` (rows,)
    is there where a column of scope `response` carries it.
    """

    kind: str
    dtype: str
    scope: str
    rows: int
    width: int
    values: np.ndarray
    offsets: np.ndarray | None = None
    index: np.ndarray | None = None
    response_lengths: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class MaskColumn:
    """
    A 0/1 token matrix. `lengths` (rows,): each row's ones are a prefix. Otherwise `bounds` (runs, 2) holds start and stop of each run of
    ones and `offsets` (rows + 1) says which runs belong to which row.
    """

    dtype: str
    rows: int
    width: int
    lengths: np.ndarray | None
    offsets: np.ndarray | None = None
    bounds: np.ndarray | None = None

    @property
    def kind(self) -> str:
        return "runs" if self.lengths is None else "lengths"

    def widened(self, width: int) -> MaskColumn:
        return self if width == self.width else replace(self, width=width)


@dataclass(frozen=True, slots=True)
class StringsColumn:
    """One string per row: `table[index[i]]`."""

    rows: int
    table: list[str]
    index: np.ndarray

    def values(self) -> list[str]:
        return [self.table[i] for i in self.index]


Column = VectorColumn | FeaturesColumn | TokenColumn | MaskColumn | StringsColumn


@dataclass(frozen=True, slots=True)
class Layout:
    """
    Where the tokens of a put lie. `lengths` (rows,) are the response lengths; None: every response spans the width. `mask_field` names the
    field of this very put that `mask` was read from, if it was.
    """

    rows: int
    width: int
    mask: MaskColumn | None = None
    lengths: np.ndarray | None = None
    mask_field: str | None = None

"""The columns of one step's live rows, in their encoded form, and their expansion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.spans import Spans, mask_spans, prefix_spans, spans_of
from ..columns.tensor import FeaturesColumn, Layout, MaskColumn, StringsColumn, TokenColumn, VectorColumn
from .expand import expand

Column = VectorColumn | FeaturesColumn | TokenColumn | MaskColumn | StringsColumn


class NonFiniteError(Exception):
    """A field that is read holds NaN or infinity: the pipeline's `on_nonfinite` decides. Rows count from 0 among the live ones."""

    def __init__(self, source: str, rows: list[int], column: int | None, value: float) -> None:
        super().__init__(f"{source}: row {rows[0]} is {value}")
        self.source = source
        self.rows = rows
        self.column = column
        self.value = value


@dataclass(frozen=True)
class StepColumns:
    """
    `layout`: rows, width as posted, mask, response lengths where known. `stored`: the dtype each field was posted in, where it is not the
    one it is held in (bf16 and f16 travel here as f32). `counted` (rows,): rows that group statistics take, of each session the
    last one.
    """

    layout: Layout
    fields: Mapping[str, Column]
    stored: Mapping[str, str]
    counted: np.ndarray

    @property
    def rows(self) -> int:
        return self.layout.rows

    @property
    def mask(self) -> Spans:
        """The tokens whose mask is 1; every token where no mask is known."""
        if self.layout.mask is None:
            return self.response
        return mask_spans(self.layout.mask)

    @property
    def response(self) -> Spans:
        """The tokens of each response; the whole width where the lengths are not known."""
        lengths = self.layout.lengths
        whole = np.full(self.rows, self.layout.width, dtype=np.int32) if lengths is None else lengths
        return prefix_spans(whole, self.layout.width)

    @property
    def longest(self) -> int:
        """Tokens of the longest response."""
        return int(self.response.counts.max(initial=0))

    def field(self, name: str) -> Column:
        """Raises KeyError, with what there is, for a field that was not declared."""
        try:
            return self.fields[name]
        except KeyError:
            known = ", ".join(self.fields) or "none"
            raise KeyError(
                f"there is no field '{name}' in this batch (it has {known}); declare it in requires"
            ) from None

    def dtype(self, name: str) -> str:
        """The dtype in which the trainer posted a field."""
        column = self.field(name)
        return self.stored.get(name, "" if isinstance(column, StringsColumn) else column.dtype)

    def vector(self, name: str) -> np.ndarray:
        """(rows,). Raises KeyError, TypeError, NonFinite."""
        column = self.field(name)
        if not isinstance(column, VectorColumn):
            raise TypeError(f"field '{name}' has no number a row: it is {_form(column)}")
        check_finite(f"field '{name}'", column.values)
        return column.values

    def features(self, name: str) -> np.ndarray:
        """(rows, d). Raises KeyError, TypeError, NonFinite."""
        column = self.field(name)
        if not isinstance(column, FeaturesColumn):
            raise TypeError(f"field '{name}' has no vector of numbers a row: it is {_form(column)}")
        if column.values.dtype.kind == "f" and not _sums_up(column.values):
            bad, at = np.nonzero(~np.isfinite(column.values))
            if len(bad) > 0:
                value = float(column.values[bad[0], at[0]])
                raise NonFiniteError(f"field '{name}'", np.unique(bad).tolist(), int(at[0]), value)
        return column.values

    def strings(self, name: str) -> list[str]:
        """One string per row. Raises KeyError, TypeError."""
        column = self.field(name)
        if not isinstance(column, StringsColumn):
            raise TypeError(f"field '{name}' has no string a row: it is {_form(column)}")
        return column.values()

    def tokens(self, name: str) -> TokenColumn:
        """Raises KeyError, TypeError, NonFinite."""
        column = self.field(name)
        if not isinstance(column, TokenColumn):
            raise TypeError(f"field '{name}' has no number a token: it is {_form(column)}")
        return column

    def spans(self, name: str) -> Spans:
        """The tokens for which a field has values."""
        column = self.tokens(name)
        return (
            self.mask if column.scope == "mask" else spans_of(column.scope, self.layout, name, column.response_lengths)
        )

    def padded(self, name: str) -> np.ndarray:
        """(rows, longest), 0 outside the field's tokens. Writable, shared with nothing. Raises as `tokens`, NonFinite."""
        if name == "response_mask":
            return self.mask_matrix(np.int64)
        column = self.field(name)
        if isinstance(column, MaskColumn):
            return mask_spans(column).inside(0, self.rows)[:, : self.longest].astype(np.int64)
        column = self.tokens(name)
        check_column(name, column)
        matrix = expand(column, self.spans(name))
        return matrix if self.longest == matrix.shape[1] else np.ascontiguousarray(matrix[:, : self.longest])

    def mask_matrix(self, dtype: Any) -> np.ndarray:
        """(rows, longest), 1 where a token counts."""
        return self.mask.inside(0, self.rows)[:, : self.longest].astype(dtype)

    def flat(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """A field's tokens row after row, and how many each row has. Raises as `padded`."""
        column = self.tokens(name)
        check_column(name, column)
        spans = self.spans(name)
        if column.kind == "jagged":
            return column.values, spans.counts
        if column.kind == "row":
            return np.repeat(column.values, spans.counts), spans.counts
        if column.kind == "dense" and spans.whole:
            return column.values.reshape(-1), spans.counts
        return expand(column, spans)[spans.inside(0, self.rows)], spans.counts


def check_column(name: str, column: TokenColumn) -> None:
    """Raises NonFinite if a value is NaN or infinite."""
    values = column.values
    if values.dtype.kind != "f" or _sums_up(values):
        return
    flat = values.reshape(-1)
    bad = np.flatnonzero(~np.isfinite(flat))
    if len(bad) == 0:
        return
    if column.offsets is not None:
        rows = np.searchsorted(column.offsets, bad, side="right") - 1
        at = int(bad[0] - column.offsets[rows[0]])
        first = at if column.index is None else int(column.index[bad[0]])
    elif column.kind == "dense":
        rows = bad // column.width
        first = int(bad[0] % column.width)
    else:
        rows, first = bad, 0
    raise NonFiniteError(f"field '{name}'", np.unique(rows).tolist(), first, float(flat[bad[0]]))


def check_finite(source: str, values: np.ndarray) -> None:
    """The same for one number per row."""
    if values.dtype.kind != "f" or _sums_up(values):
        return
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad) > 0:
        raise NonFiniteError(source, bad.tolist(), None, float(values[bad[0]]))


def _sums_up(values: np.ndarray) -> bool:
    """A finite sum has finite terms; one that is not may only be too large, and is then looked at term by term."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def _form(column: Column) -> str:
    if isinstance(column, VectorColumn):
        return "one number a row"
    if isinstance(column, FeaturesColumn):
        return "a vector of numbers a row"
    if isinstance(column, MaskColumn):
        return "a mask of tokens"
    return "one string a row" if isinstance(column, StringsColumn) else "one number a token"

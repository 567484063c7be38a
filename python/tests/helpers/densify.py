"""Columns as dense tensors: the original bits over the scope, +0 outside it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dataflex_mq.columns.dtypes import ONE_BITS, STORAGE, bits_of
from dataflex_mq.columns.encodings.part import malformed
from dataflex_mq.columns.field_names import is_mask_field
from dataflex_mq.columns.spans import mask_spans, spans_of
from dataflex_mq.columns.tensor import (
    Column,
    FeaturesColumn,
    Layout,
    MaskColumn,
    StringsColumn,
    Tensor,
    TokenColumn,
    VectorColumn,
)
from dataflex_mq.errors import error


def densify(column: Column, layout: Layout) -> Tensor:
    """
    (rows,) or (rows, layout.width) in the dtype that travelled.

    Raises INVALID_INPUT: scope `mask` and no mask in the layout; DECODE: a jagged column whose tokens are not those of the layout.
    """
    assert not isinstance(column, StringsColumn)
    if isinstance(column, (VectorColumn, FeaturesColumn)):
        return Tensor(column.dtype, column.values.copy())
    width = max(layout.width, column.width)
    out = np.zeros((column.rows, width), dtype=STORAGE[column.dtype])
    bits = bits_of(out)
    if isinstance(column, MaskColumn):
        bits[mask_spans(column.widened(width)).inside(0, column.rows)] = ONE_BITS[column.dtype]
        return Tensor(column.dtype, out)
    values = bits_of(column.values)
    lengths = column.response_lengths if column.response_lengths is not None else layout.lengths
    if lengths is None:
        lengths = np.full(layout.rows, column.width, dtype=np.int32)
    wide = Layout(layout.rows, width, layout.mask, layout.lengths)
    spans = spans_of(column.scope, wide, column.kind, lengths)
    inside = spans.inside(0, column.rows)
    if column.kind == "dense":
        np.copyto(bits[:, : column.width], values, where=inside[:, : column.width])
    elif column.kind == "jagged":
        assert column.offsets is not None
        held = np.diff(column.offsets)
        wrong = np.flatnonzero(held != spans.counts)
        if len(wrong) > 0:
            row = int(wrong[0])
            raise error(
                "DECODE",
                f"A jagged column holds {held[row]} tokens in row {row}, and the step's layout has {spans.counts[row]} in scope there.",
                {"row": row},
            )
        bits[inside] = values
    elif column.kind == "row":
        np.copyto(bits, values[:, None], where=inside)
    elif column.kind == "last":
        rows = np.flatnonzero(spans.counts > 0)
        bits[rows, spans.ends()[rows] - 1] = values[rows]
    elif column.kind == "sparse":
        assert column.offsets is not None
        bits[np.repeat(np.arange(column.rows), np.diff(column.offsets)), column.index] = values
    else:
        malformed(column.kind, "it has no dense form")
    return Tensor(column.dtype, out)


def layout_of_columns(columns: Mapping[str, Column], rows: int) -> Layout:
    """The layout a reader works with, from the decoded columns of a stage. Raises DECODE when columns disagree."""
    width, lengths, mask = 0, None, None
    for name, column in columns.items():
        if column.rows != rows:
            raise error("DECODE", f'Column "{name}" has {column.rows} rows, expected {rows}.', {"field": name})
        if not isinstance(column, (TokenColumn, MaskColumn)):
            continue
        width = max(width, column.width)
        if isinstance(column, MaskColumn):
            mask = column if mask is None and is_mask_field(name) else mask
        elif column.response_lengths is not None:
            if lengths is not None and not np.array_equal(lengths, column.response_lengths):
                raise error("DECODE", f'Column "{name}" disagrees with others about response lengths.', {"field": name})
            lengths = column.response_lengths
    return Layout(rows, width, None if mask is None else mask.widened(width), lengths)

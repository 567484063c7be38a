"""A column as a dense tensor: the original bits over the scope, +0 outside it."""

from __future__ import annotations

import numpy as np

from ..errors import error
from .dtypes import ONE_BITS, STORAGE, bits_of
from .encodings.part import malformed
from .spans import mask_spans, spans_of
from .tensor import Layout, MaskColumn, Tensor, TokenColumn, VectorColumn


def densify(column: VectorColumn | TokenColumn | MaskColumn, layout: Layout) -> Tensor:
    """
    (rows,) or (rows, layout.width) in the dtype that travelled.

    Raises INVALID_INPUT: scope `mask` and no mask in the layout; DECODE: a jagged column whose tokens are not those of the layout.
    """
    if isinstance(column, VectorColumn):
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

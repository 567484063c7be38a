"""A token column as a matrix: its values at its tokens, 0 elsewhere."""

from __future__ import annotations

import numpy as np

from ..columns.spans import Spans
from ..columns.tensor import TokenColumn

# Rows at least this long are copied one by one, which is faster than a mask over the matrix.
_LONG = 64


def expand(column: TokenColumn, spans: Spans) -> np.ndarray:
    """
    (rows, width). Where every token is there it is the column's own memory, else a new matrix.

    spans: the column's tokens, as many in each row as a jagged column holds.
    """
    values, rows, width = column.values, column.rows, column.width
    if column.kind in ("dense", "jagged") and spans.whole:
        return values.reshape(rows, width)
    out = np.zeros((rows, width), dtype=values.dtype)
    if column.kind == "jagged":
        if spans.bounds is None and spans.total >= _LONG * rows:
            start = 0
            for row, count in enumerate(spans.counts.tolist()):
                out[row, :count] = values[start : start + count]
                start += count
        else:
            out[spans.inside(0, rows)] = values
    elif column.kind == "dense":
        np.copyto(out, values, where=spans.inside(0, rows))
    elif column.kind == "row":
        np.copyto(out, values[:, None], where=spans.inside(0, rows))
    elif column.kind == "last":
        some = np.flatnonzero(spans.counts > 0)
        out[some, spans.ends()[some] - 1] = values[some]
    else:
        assert column.offsets is not None
        out[np.repeat(np.arange(rows), np.diff(column.offsets)), column.index] = values
    return out

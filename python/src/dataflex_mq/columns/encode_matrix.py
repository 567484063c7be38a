"""One token matrix in its smallest encoding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .dtypes import DTYPE_BYTES
from .encodings.dense import encode_dense
from .encodings.jagged import encode_jagged
from .encodings.last import encode_last
from .encodings.part import Parts, i32, padded
from .encodings.row import encode_row
from .encodings.sparse import encode_sparse
from .input_types import NumberValue
from .limits import MAX_INDEXED
from .source import source_of
from .spans import Spans
from .tensor import Layout
from .token_source import TokenSource

_ENCODERS = {
    "row": encode_row,
    "last": encode_last,
    "dense": encode_dense,
    "jagged": encode_jagged,
    "sparse": encode_sparse,
}


def encode_matrix(
    field: str, value: NumberValue, scope: str, spans: Spans, layout: Layout
) -> tuple[dict[str, Any], Parts]:
    """
    Header and parts. Sizes are of padded parts, as they will lie in the body. Equal sizes: `row` before `last` before `dense` before
    `jagged` before `sparse`, so that the choice is a function of the values alone.
    """
    source = source_of(field, value, spans)
    rows, width, total = spans.rows, spans.width, spans.total
    size = DTYPE_BYTES[value.dtype]
    per_row = padded(4 * rows)
    lengths = _response_lengths(scope, spans, layout)
    extra = per_row if lengths else 0

    constant, last_only = source.is_row_constant(), source.is_last_only()
    sizes: dict[str, float] = {
        "row": padded(rows * size) + extra if constant else math.inf,
        "last": padded(rows * size) + extra if last_only else math.inf,
        "dense": padded(rows * width * size) + extra,
        "jagged": per_row + padded(total * size) if total <= MAX_INDEXED else math.inf,
        "sparse": math.inf,
    }
    # Counting stops once sparse can no longer win.
    budget = min(MAX_INDEXED, math.floor((min(sizes.values()) - per_row - extra) / (4 + size)))
    nonzero = 1 if budget < 0 else _count_nonzero(source, constant, last_only, budget)
    if nonzero <= budget:
        sizes["sparse"] = per_row + extra + padded(4 * nonzero) + padded(nonzero * size)
    enc = min(sizes, key=lambda name: sizes[name])
    own = lengths if enc != "jagged" else []
    header = {"enc": enc, "dtype": value.dtype, "shape": [rows, width], "scope": scope}
    return header, [*own, *_ENCODERS[enc](source)]


def _response_lengths(scope: str, spans: Spans, layout: Layout) -> Parts:
    """The part "lengths" of scope `response`: there when the response lengths are known and some response is shorter than the width."""
    if scope != "response" or layout.lengths is None or spans.whole:
        return []
    return [("lengths", i32(layout.lengths))]


def _count_nonzero(source: TokenSource, constant: bool, last_only: bool, budget: int) -> int:
    """Exact up to `budget`; without another pass where one of the two facts is known to hold."""
    if constant:
        return int(source.spans.counts[source.firsts() != 0].sum(dtype=np.int64))
    if last_only:
        return int(np.count_nonzero(source.lasts()))
    return source.count_nonzero(budget)

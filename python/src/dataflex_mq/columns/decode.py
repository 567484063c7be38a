"""Columns from headers and a body, still in their compact form; a mask always as `lengths` or `runs`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .column_header import check_headers
from .encodings.dense import decode_dense
from .encodings.jagged import decode_jagged
from .encodings.last import decode_last
from .encodings.lengths import decode_lengths
from .encodings.part import DecodeInput, malformed
from .encodings.row import decode_row
from .encodings.runs import decode_runs
from .encodings.sparse import decode_sparse
from .encodings.strings import decode_strings
from .field_names import is_mask_field
from .limits import DEFAULT_LIMITS, Limits
from .mask import mask_of
from .tensor import Column, Jagged, MaskColumn, Tensor, TokenColumn
from .token_limit import check_tokens

_DECODERS: dict[str, Callable[[DecodeInput], Column]] = {
    "dense": decode_dense,
    "jagged": decode_jagged,
    "row": decode_row,
    "last": decode_last,
    "sparse": decode_sparse,
    "lengths": decode_lengths,
    "runs": decode_runs,
    "strings": decode_strings,
}


def decode_columns(headers: Sequence[Any], body: bytes, limits: Limits = DEFAULT_LIMITS) -> dict[str, Column]:
    """
    All columns of a body, by name. Values are views of `body`. Everything declared is checked, sizes before anything is allocated.

    Raises DECODE naming the column and what is wrong, with row and column where they are known.
    """
    checked = check_headers(headers, np.frombuffer(body, dtype=np.uint8), limits)
    columns = {header.name: _decode(header) for header in checked}
    for name, column in columns.items():
        check_tokens(name, column, limits)
    return columns


def _decode(header: DecodeInput) -> Column:
    column = _DECODERS[header.enc](header)
    return _mask(header.name, column) if is_mask_field(header.name) else column


def _mask(name: str, column: Column) -> MaskColumn:
    if isinstance(column, MaskColumn):
        return column
    if not isinstance(column, TokenColumn) or column.kind not in ("dense", "jagged"):
        kind = getattr(column, "kind", "vector")
        malformed(name, f"a mask is a dense, jagged, lengths or runs matrix, not {kind}")
    if column.offsets is None:
        value: Tensor | Jagged = Tensor(column.dtype, column.values)
    else:
        value = Jagged(column.dtype, column.values, np.diff(column.offsets).astype(np.int32), column.width)
    try:
        return mask_of(name, value, column.width)
    except Exception as cause:
        details = getattr(cause, "details", {})
        return malformed(
            name, f"it is neither 0 nor 1 in row {details.get('row')}, column {details.get('column')}", details
        )

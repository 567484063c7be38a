"""How many tokens a column stands for: a few bytes may stand for any number of them."""

from __future__ import annotations

import numpy as np

from .encodings.part import malformed
from .limits import Limits
from .tensor import Column, MaskColumn, TokenColumn


def tokens_in(column: Column) -> int:
    """Tokens of a compact column; of a column of scope `mask` the mask itself says it, so that it counts none."""
    if isinstance(column, MaskColumn):
        if column.lengths is not None:
            return int(column.lengths.sum(dtype=np.int64))
        return 0 if column.bounds is None else int((column.bounds[:, 1] - column.bounds[:, 0]).sum(dtype=np.int64))
    if not isinstance(column, TokenColumn) or column.scope == "mask":
        return 0
    if column.response_lengths is not None:
        return int(column.response_lengths.sum(dtype=np.int64))
    return column.rows * column.width


def check_tokens(name: str, column: Column, limits: Limits) -> None:
    """Before anything of the size is allocated. Raises DECODE naming the column."""
    tokens, most = tokens_in(column), limits["max_tokens"]
    if tokens > most:
        malformed(name, f"it has {tokens} tokens, and at most {most} are read", {"tokens": tokens})

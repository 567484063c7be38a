"""`sparse`: how many tokens per row are not +0, their positions in the row, their values."""

from __future__ import annotations

import numpy as np

from ..tensor import TokenColumn
from ..token_source import TokenSource
from .part import DecodeInput, Parts, by_offsets, bytes_of, i32, malformed, offsets_of


def encode_sparse(source: TokenSource) -> Parts:
    counts, index, values = source.sparse()
    return [("counts", i32(counts)), ("index", i32(index)), ("values", bytes_of(values))]


def decode_sparse(read: DecodeInput) -> TokenColumn:
    lengths = read.response_lengths()
    offsets = offsets_of(read.name, read.per_row("counts", read.width))
    index = read.read_i32("index", int(offsets[-1]))
    _check_index(read, offsets, index)
    values = read.values(int(offsets[-1]), by_offsets(offsets, index))
    shape = (read.rows, read.width)
    return TokenColumn("sparse", read.dtype, read.scope, *shape, values, offsets, index, response_lengths=lengths)


def _check_index(read: DecodeInput, offsets: np.ndarray, index: np.ndarray) -> None:
    before = np.concatenate((np.full(min(len(index), 1), -1), index[:-1].astype(np.int64)))
    # A row's first entry has no predecessor.
    begins = offsets[:-1][np.diff(offsets) > 0]
    before[begins] = -1
    wrong = np.flatnonzero((index <= before) | (index >= read.width))
    if len(wrong) == 0:
        return
    at = int(wrong[0])
    row = by_offsets(offsets, index)(at)["row"]
    why = f"index {int(index[at])} in row {row} is not above {int(before[at])} and below {read.width}"
    malformed(read.name, why, {"row": row})

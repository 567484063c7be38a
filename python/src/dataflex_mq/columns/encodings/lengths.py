"""`lengths`: a 0/1 matrix whose ones are a prefix, as how many ones each row has."""

from __future__ import annotations

from ..tensor import MaskColumn
from .part import DecodeInput, Parts, i32


def encode_lengths(mask: MaskColumn) -> Parts:
    assert mask.lengths is not None
    return [("lengths", i32(mask.lengths))]


def decode_lengths(read: DecodeInput) -> MaskColumn:
    return MaskColumn(read.dtype, read.rows, read.width, read.per_row("lengths", read.width))

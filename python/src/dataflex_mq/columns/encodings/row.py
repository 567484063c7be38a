"""`row`: one value a row, that of each of its tokens in scope; +0 for a row without one."""

from __future__ import annotations

from ..tensor import TokenColumn
from ..token_source import TokenSource
from .part import DecodeInput, Parts, by_row, bytes_of


def encode_row(source: TokenSource) -> Parts:
    return [("values", bytes_of(source.firsts()))]


def decode_row(read: DecodeInput) -> TokenColumn:
    lengths = read.response_lengths()
    values = read.values(read.rows, by_row)
    return TokenColumn("row", read.dtype, read.scope, read.rows, read.width, values, response_lengths=lengths)

"""`last`: the value at each row's last token in scope, +0 at the others; +0 for a row without one."""

from __future__ import annotations

from ..tensor import TokenColumn
from ..token_source import TokenSource
from .part import DecodeInput, Parts, by_row, bytes_of


def encode_last(source: TokenSource) -> Parts:
    return [("values", bytes_of(source.lasts()))]


def decode_last(read: DecodeInput) -> TokenColumn:
    lengths = read.response_lengths()
    values = read.values(read.rows, by_row)
    return TokenColumn("last", read.dtype, read.scope, read.rows, read.width, values, response_lengths=lengths)

"""`jagged`: the tokens in scope, row after row, and how many each row has. In scope `response` these are the response lengths."""

from __future__ import annotations

from ..tensor import TokenColumn
from ..token_source import TokenSource
from .part import DecodeInput, Parts, by_offsets, bytes_of, i32, offsets_of


def encode_jagged(source: TokenSource) -> Parts:
    return [("lengths", i32(source.spans.counts)), ("values", bytes_of(source.jagged()))]


def decode_jagged(read: DecodeInput) -> TokenColumn:
    lengths = read.per_row("lengths", read.width)
    offsets = offsets_of(read.name, lengths)
    values = read.values(int(offsets[-1]), by_offsets(offsets))
    own = lengths if read.scope == "response" else None
    return TokenColumn("jagged", read.dtype, read.scope, read.rows, read.width, values, offsets, response_lengths=own)

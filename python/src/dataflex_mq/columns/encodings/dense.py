"""`dense`: every element, row-major; +0 out of scope."""

from __future__ import annotations

from ..tensor import FeaturesColumn, TokenColumn, VectorColumn
from ..token_source import TokenSource
from .part import DecodeInput, Parts, by_matrix, by_row, bytes_of


def encode_dense(source: TokenSource) -> Parts:
    return [("values", bytes_of(source.dense()))]


def decode_dense(read: DecodeInput) -> VectorColumn | FeaturesColumn | TokenColumn:
    if not read.matrix:
        return VectorColumn(read.dtype, read.rows, read.values(read.rows, by_row))
    values = read.values(read.rows * read.width, by_matrix(read.width)).reshape(read.rows, read.width)
    if read.features:
        return FeaturesColumn(read.dtype, read.rows, values)
    lengths = read.response_lengths()
    return TokenColumn("dense", read.dtype, read.scope, read.rows, read.width, values, response_lengths=lengths)

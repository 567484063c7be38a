"""`strings`: the distinct strings in the order of their first row, their byte lengths, and each row's index."""

from __future__ import annotations

import numpy as np

from ...errors import error
from ..tensor import StringsColumn
from .part import DecodeInput, Parts, i32, malformed


def encode_strings(field: str, values: list[str], max_bytes: int) -> tuple[Parts, int]:
    """Parts, and how many distinct strings there are. Raises INVALID_INPUT, LIMIT with the row."""
    index_of: dict[str, int] = {}
    index = np.array([index_of.setdefault(text, len(index_of)) for text in values], dtype=np.int32)
    try:
        table = [text.encode() for text in index_of]
    except UnicodeEncodeError as cause:
        row = values.index(cause.object)
        message = f'Field "{field}" holds half a surrogate pair in row {row}, which UTF-8 cannot hold; send valid text.'
        raise error("INVALID_INPUT", message, {"field": field, "row": row}) from cause
    sizes = np.array([len(text) for text in table], dtype=np.int32)
    long = np.flatnonzero(sizes > max_bytes)
    if len(long) > 0:
        row = values.index(table[long[0]].decode())
        message = f'Field "{field}" holds a string of {sizes[long[0]]} bytes in row {row}, the limit is {max_bytes}; shorten it.'
        raise error("LIMIT", message, {"field": field, "row": row, "limit": max_bytes})
    joined = np.frombuffer(b"".join(table), dtype=np.uint8)
    return [("sizes", i32(sizes)), ("table", joined), ("index", i32(index))], len(table)


def decode_strings(read: DecodeInput) -> StringsColumn:
    """The table's strings must be distinct: readers group rows by index."""
    sizes = read.read_i32("sizes", read.distinct)
    longest = read.limits["max_string_bytes"]
    wrong = np.flatnonzero((sizes < 0) | (sizes > longest))
    if len(wrong) > 0:
        size = int(sizes[wrong[0]])
        malformed(read.name, f"its table declares a string of {size} bytes, the limit is {longest}")
    data = read.exact("table", int(sizes.sum(dtype=np.int64))).tobytes()
    index = read.per_row("index", read.distinct - 1)
    table: list[str] = []
    at = 0
    for size in sizes.tolist():
        try:
            table.append(data[at : at + size].decode())
        except UnicodeDecodeError:
            malformed(read.name, f"entry {len(table)} of its table is not valid UTF-8")
        at += size
    if len(set(table)) != len(table):
        malformed(read.name, "its table holds a string twice")
    return StringsColumn(read.rows, table, index)

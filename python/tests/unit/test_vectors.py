"""The golden vectors, in both directions: values → exactly these bytes, these bytes → exactly these values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dataflex_mq.columns.decode import decode_columns
from dataflex_mq.columns.dtypes import DTYPE_BYTES
from dataflex_mq.columns.encode import encode_columns
from dataflex_mq.columns.layout import layout_of
from dataflex_mq.columns.tensor import ENCODINGS, Layout, StringsColumn
from dataflex_mq.errors import DataflexError
from dataflex_mq.protocol.codec import pack, unpack
from dataflex_mq.protocol.put_id import content_hash, put_id
from helpers.densify import densify, layout_of_columns
from helpers.paths import VECTORS
from helpers.vector_format import field_values, message_from_json, vectors

COLUMNS = list(vectors("columns"))
MESSAGES = list(vectors("message"))
REFUSED = list(vectors("refused"))


def names(vectors: list[Any]) -> list[str]:
    return [name for name, _, _ in vectors]


@pytest.mark.parametrize(("name", "vector", "data"), COLUMNS, ids=names(COLUMNS))
def test_values_encode_to_these_bytes(name: str, vector: dict[str, Any], data: bytes) -> None:
    fields = field_values(vector)
    lengths = np.array(vector["lengths"], dtype=np.int32) if "lengths" in vector else None
    scopes = {field: value.get("scope") for field, value in vector["fields"].items()}
    encoded = encode_columns(fields, scopes, layout_of(fields, vector["rows"], lengths))
    assert encoded.columns == vector["columns"]
    assert [list(column) for column in encoded.columns] == [list(column) for column in vector["columns"]]
    assert encoded.size == vector["bytes"]
    assert b"".join(part.tobytes() for part in encoded.parts) == data
    assert content_hash([data], encoded.columns) == vector["hash"]


@pytest.mark.parametrize(("name", "vector", "data"), COLUMNS, ids=names(COLUMNS))
def test_bytes_decode_to_these_values(name: str, vector: dict[str, Any], data: bytes) -> None:
    columns = decode_columns(vector["columns"], data)
    found = layout_of_columns(columns, vector["rows"])
    layout = Layout(found.rows, vector["width"], found.mask, found.lengths)
    assert list(columns) == list(vector["fields"])
    for field, expected in field_values(vector).items():
        column = columns[field]
        if isinstance(column, StringsColumn):
            assert column.values() == vector["fields"][field]["values"]
            continue
        tensor = densify(column, layout)
        assert tensor.dtype == vector["fields"][field]["dtype"]
        assert tensor.data.shape == expected.data.shape
        assert tensor.data.tobytes() == expected.data.tobytes()


@pytest.mark.parametrize(("name", "vector", "data"), MESSAGES, ids=names(MESSAGES))
def test_value_and_message_are_each_other(name: str, vector: dict[str, Any], data: bytes) -> None:
    value = message_from_json(vector["value"])
    assert pack(value) == data
    assert same(unpack(data), value)


@pytest.mark.parametrize(("name", "vector", "data"), REFUSED, ids=names(REFUSED))
def test_refused_bytes(name: str, vector: dict[str, Any], data: bytes) -> None:
    with pytest.raises(DataflexError) as caught:
        unpack(data)
    assert caught.value.code == "DECODE"


def test_put_header_names_the_put_it_belongs_to() -> None:
    put = next(vector for name, vector, _ in COLUMNS if name == "put-multi-turn")
    header = next(vector for name, vector, _ in MESSAGES if name == "put-header")["value"]
    fields = [column["name"] for column in put["columns"]]
    assert header["id"] == put_id("post_advantage", fields, [0, put["rows"]])
    assert (header["hash"], header["bytes"]) == (put["hash"], put["bytes"])


def test_the_set_has_every_encoding_and_every_dtype() -> None:
    columns = [column for _, vector, _ in COLUMNS for column in vector["columns"]]
    assert {column["enc"] for column in columns} == set(ENCODINGS)
    assert {column["dtype"] for column in columns if "dtype" in column} == set(DTYPE_BYTES)
    assert len(COLUMNS) + len(MESSAGES) + len(REFUSED) == len(list((VECTORS / "v1").glob("*.bin")))


def same(a: Any, b: Any) -> bool:
    """Equal, with NaN as itself and -0 not as 0."""
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return bool(a == b) and isinstance(a, type(b))

"""A few bytes may stand for any number of tokens: refused where they are put and where they are read."""

from __future__ import annotations

import numpy as np
import pytest

from dataflex_mq import DataflexError
from dataflex_mq.columns.decode import decode_columns
from dataflex_mq.columns.encode import encode_columns
from dataflex_mq.columns.tensor import Layout, MaskColumn, Tensor

ROWS, WIDTH = 4097, 16_384
LENGTHS = np.full(ROWS, WIDTH, dtype=np.int32)


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ({"name": "mask", "enc": "lengths", "dtype": "bool", "parts": {"lengths": [0, 4 * ROWS]}}, LENGTHS.tobytes()),
        ({"name": "weights", "enc": "row", "dtype": "f32", "parts": {"values": [0, 4 * ROWS]}}, bytes(4 * ROWS)),
    ],
)
def test_refused_where_it_is_read(header: dict[str, object], body: bytes) -> None:
    whole = {"shape": [ROWS, WIDTH], "scope": "response", **header}
    with pytest.raises(DataflexError, match="67125248 tokens") as caught:
        decode_columns([whole], body + bytes(-len(body) % 8))
    assert caught.value.code == "DECODE"


def test_refused_where_it_is_put() -> None:
    mask = MaskColumn("bool", ROWS, WIDTH, LENGTHS)
    field = Tensor("f32", np.zeros(ROWS, dtype=np.float32))
    with pytest.raises(DataflexError, match="67125248 tokens, the limit is 67108864") as caught:
        encode_columns({"x": field}, {}, Layout(ROWS, WIDTH, mask, None))
    assert caught.value.code == "LIMIT"

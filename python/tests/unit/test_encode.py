from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_mq.columns.chunks import chunks_of
from dataflex_mq.columns.encode import encode_columns
from dataflex_mq.columns.input import to_field_value
from dataflex_mq.columns.layout import layout_of
from dataflex_mq.columns.limits import DEFAULT_LIMITS
from dataflex_mq.columns.tensor import Layout
from dataflex_mq.errors import DataflexError

MASK = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], dtype=bool)


def encode(fields: dict[str, Any], lengths: Any = None, scope: str = "mask", **limits: int) -> list[dict[str, Any]]:
    values = {name: to_field_value(name, value) for name, value in fields.items()}
    rows = next(iter(values.values())).rows
    known = None if lengths is None else np.array(lengths, dtype=np.int32)
    layout = layout_of(values, rows, known)
    return encode_columns(values, dict.fromkeys(values, scope), layout, {**DEFAULT_LIMITS, **limits}).columns


def test_a_grpo_step_travels_as_two_vectors() -> None:
    rng = np.random.default_rng(0)
    inside = np.arange(512) < rng.integers(1, 512, 64)[:, None]
    advantages = np.where(inside, rng.random(64, np.float32)[:, None], np.float32(0))
    for padding in (0.0, np.nan, 7.0):
        padded = np.where(inside, advantages, np.float32(padding)).astype(np.float32)
        columns = encode({"advantages": padded, "response_mask": inside.astype(np.int64)})
        assert [column["enc"] for column in columns] == ["row", "lengths"]


def test_the_choice_follows_the_values() -> None:
    last = np.zeros((2, 4), np.float32)
    last[0, 2], last[1, 1] = 5, 6
    few = np.zeros((2, 64), np.float32)
    few[0, 3] = few[0, 30] = 1
    free = np.arange(8, dtype=np.float32).reshape(2, 4) + 1
    assert encode({"x": last, "response_mask": MASK})[0]["enc"] == "last"
    assert encode({"x": few, "response_mask": np.ones((2, 64), bool)})[0]["enc"] == "sparse"
    assert encode({"x": free}, scope="response")[0]["enc"] == "dense"
    ragged = np.arange(512, dtype=np.float32).reshape(2, 256)
    assert encode({"x": ragged, "response_mask": np.arange(256) < np.array([[20], [30]])})[0]["enc"] == "jagged"


@pytest.mark.parametrize(
    ("fields", "lengths", "message"),
    [
        ({"x": np.zeros((2, 4))}, None, "no response_mask is known"),
        ({"x": np.zeros((2, 3)), "response_mask": MASK}, None, "pad them alike"),
        (
            {"response_mask": MASK.astype(np.float32) * 0.5},
            None,
            "is 0.5 in row 0, column 0; a mask holds only 0 and 1",
        ),
        ({"response_mask": np.array([[1, 2]])}, None, "is 2 in row 0, column 1"),
        ({"response_mask": np.array([[1, np.nan]])}, None, "is nan in row 0, column 1"),
        ({"response_mask": np.array([1, 0])}, None, "no token dimension"),
        ({"response_mask": MASK}, [3, 1], "The mask is 1 in row 1, column 1, behind the response's 1 tokens"),
        ({"response_mask": MASK}, [5, 1], "pad it further"),
        ({"x": [[1.0], [2.0, 3.0]], "y": [[1.0], [2.0]]}, None, "Row 1 has 2 tokens"),
        ({"x": [[1.0], [2.0]], "response_mask": [[1, 1], [1]]}, [2, 1], "send every response token"),
    ],
)
def test_contradictions_are_refused(fields: dict[str, Any], lengths: Any, message: str) -> None:
    with pytest.raises(DataflexError, match=message) as caught:
        encode(fields, lengths)
    assert caught.value.code == "INVALID_INPUT"


def test_limits_are_kept() -> None:
    mask = {"response_mask": MASK}
    for limit in ({"max_rows": 1}, {"max_width": 3}, {"max_put_bytes": 4}):
        with pytest.raises(DataflexError, match="LIMIT"):
            encode(mask, **limit)
    with pytest.raises(DataflexError, match="row 1, the limit is 1024"):
        encode({"uid": ["a", "é" * 600]})
    with pytest.raises(DataflexError, match="half a surrogate pair in row 0"):
        encode({"uid": ["\ud800"]})


def test_another_mask_than_the_layouts_is_refused() -> None:
    other = layout_of({"response_mask": to_field_value("response_mask", ~MASK)}, 2)
    with pytest.raises(DataflexError, match="differs from the mask of the layout"):
        encode_columns({"response_mask": to_field_value("response_mask", MASK)}, {}, Layout(2, 4, other.mask, None))


def test_chunks_are_cut_at_multiples_and_are_copies() -> None:
    parts = [np.arange(n, dtype=np.uint8) for n in (3, 0, 10, 7)]
    body = b"".join(part.tobytes() for part in parts)
    for size in (1, 4, 7, 20, 100):
        chunks = chunks_of(parts, size)
        assert b"".join(chunks) == body
        assert [len(chunk) for chunk in chunks[:-1]] == [size] * (len(chunks) - 1)
    chunks = chunks_of(parts, 100)
    parts[0][:] = 9
    assert chunks[0] == body
    assert chunks_of([], 8) == []

"""decode(encode(x)) is x, bit for bit over the scope, in the smallest form; and the three ways to hold a matrix give the same bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dataflex_mq.columns.decode import decode_columns
from dataflex_mq.columns.dtypes import DTYPE_BYTES, ONE_BITS, STORAGE, bits_of
from dataflex_mq.columns.encode import encode_columns
from dataflex_mq.columns.layout import layout_of
from dataflex_mq.columns.spans import spans_of
from dataflex_mq.columns.tensor import Jagged, Layout, Strings, StringsColumn, Tensor
from helpers.densify import densify, layout_of_columns

SIZES = st.tuples(st.integers(0, 6), st.integers(0, 9))


@st.composite
def words(draw: st.DrawFn, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Arrays of a dtype by their bits (NaNs of any payload, -0), often constant, mostly zero, or constant in rows."""
    if dtype == "bool":
        elements = st.integers(0, 1)
    elif dtype == "i64":
        elements = st.integers(-(2**53), 2**53).map(lambda value: value % 2**64)
    else:
        elements = st.integers(0, 2 ** (8 * DTYPE_BYTES[dtype]) - 1)
    few = draw(st.lists(elements, min_size=1, max_size=3))
    pick = st.one_of(elements, st.sampled_from([*few, 0]), st.just(0), st.just(few[0]))
    kind = draw(st.sampled_from(["free", "rows", "zero", "few"]))
    unsigned = bits_of(np.zeros(0, dtype=STORAGE[dtype])).dtype
    if kind == "rows" and len(shape) == 2:
        rows = draw(arrays(unsigned, shape[0], elements=pick))
        return np.broadcast_to(rows[:, None], shape).copy().view(STORAGE[dtype])
    chosen = {"free": pick, "rows": st.just(few[0]), "zero": st.just(0), "few": st.sampled_from([*few, 0])}[kind]
    return draw(arrays(unsigned, shape, elements=chosen, fill=st.just(0))).view(STORAGE[dtype])


@st.composite
def puts(draw: st.DrawFn) -> dict[str, Any]:
    rows, width = draw(SIZES)
    lengths = draw(st.none() | arrays(np.int32, rows, elements=st.integers(0, width)))
    ends = np.full(rows, width) if lengths is None else lengths
    inside = np.arange(width) < ends[:, None]
    if draw(st.booleans()):
        mask = inside & draw(arrays(np.bool_, (rows, width)))
    else:
        mask = np.arange(width) < draw(arrays(np.int32, rows, elements=st.integers(0, width)))[:, None]
        mask &= inside
    dtype, mask_dtype = draw(st.sampled_from(sorted(DTYPE_BYTES))), draw(st.sampled_from(sorted(DTYPE_BYTES)))
    scope = draw(st.sampled_from(["mask", "response"]))
    return {
        "lengths": lengths,
        "mask": mask,
        "mask_dtype": mask_dtype,
        "scope": scope,
        "dtype": dtype,
        "x": draw(words(dtype, (rows, width))),
        "v": draw(words(dtype, (rows,))),
        "uid": draw(st.lists(st.text(max_size=4), min_size=rows, max_size=rows)),
    }


def ones(mask: np.ndarray, dtype: str) -> np.ndarray:
    out = np.zeros(mask.shape, dtype=STORAGE[dtype])
    bits_of(out)[mask] = ONE_BITS[dtype]
    return out


def encode(fields: dict[str, Any], put: dict[str, Any]) -> tuple[list[Any], bytes, Layout]:
    layout = layout_of(fields, len(put["mask"]), put["lengths"])
    encoded = encode_columns(fields, {"x": put["scope"], "response_mask": "response"}, layout)
    return encoded.columns, b"".join(part.tobytes() for part in encoded.parts), layout


@settings(max_examples=200, deadline=None)
@given(puts())
def test_a_put_survives(put: dict[str, Any]) -> None:
    mask = Tensor(put["mask_dtype"], ones(put["mask"], put["mask_dtype"]))
    fields = {"response_mask": mask, "x": Tensor(put["dtype"], put["x"]), "v": Tensor(put["dtype"], put["v"])}
    columns, body, layout = encode({**fields, "uid": Strings(put["uid"])}, put)
    decoded = decode_columns(columns, body)
    found = layout_of_columns(decoded, layout.rows)
    known = Layout(found.rows, layout.width, found.mask, found.lengths if found.lengths is not None else layout.lengths)
    assert densify(decoded["response_mask"], known).data.tobytes() == mask.data.tobytes()
    assert densify(decoded["v"], known).data.tobytes() == put["v"].tobytes()
    strings = decoded["uid"]
    assert isinstance(strings, StringsColumn)
    assert strings.values() == put["uid"]

    inside = spans_of(put["scope"], layout, "x").inside(0, layout.rows)
    expected = np.where(inside, bits_of(put["x"]), 0)
    assert bits_of(densify(decoded["x"], known).data).tobytes() == expected.tobytes()
    size = sum(-(-length // 8) * 8 for _, length in columns[1]["parts"].values())
    extra = -(-4 * layout.rows // 8) * 8 if put["lengths"] is not None and put["scope"] == "response" else 0
    assert size <= -(-put["x"].nbytes // 8) * 8 + extra


@settings(max_examples=100, deadline=None)
@given(puts())
def test_padded_strided_and_ragged_are_the_same_bytes(put: dict[str, Any]) -> None:
    rows, width = put["mask"].shape
    lengths = put["lengths"]
    if lengths is None or rows == 0 or lengths.max() < width:
        # A ragged field is as wide as its longest row: give it one of the whole width.
        put["lengths"] = lengths = np.full(rows, width, dtype=np.int32)
    inside = np.arange(width) < lengths[:, None]
    mask, x = ones(put["mask"], "i64"), put["x"]
    padded = {"response_mask": Tensor("i64", mask), "x": Tensor(put["dtype"], x)}
    strided = {
        "response_mask": Tensor("i64", np.repeat(mask, 2, axis=1)[:, ::2]),
        "x": Tensor(put["dtype"], np.asfortranarray(x)),
    }
    ragged = {
        "response_mask": Jagged("i64", mask[inside], lengths, width),
        "x": Jagged(put["dtype"], x[inside], lengths, width),
    }
    expected = encode(padded, put)[:2]
    assert encode(strided, put)[:2] == expected
    assert encode(ragged, put)[:2] == expected


def test_the_rows_of_a_large_matrix_are_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    mask = rng.random((57, 40)) < 0.7
    put = {"mask": mask, "lengths": None, "scope": "mask"}
    fields = {
        "response_mask": Tensor("bool", mask.view(np.uint8)),
        "x": Tensor("f32", rng.random((57, 40), np.float32)),
    }
    whole = encode(fields, put)[:2]
    monkeypatch.setattr("dataflex_mq.columns.dense_source.BLOCK", 100)
    assert encode(fields, put)[:2] == whole

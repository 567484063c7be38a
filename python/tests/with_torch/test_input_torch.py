"""torch tensors, padded and nested, give the bytes that NumPy arrays give; those of another device without being copied first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_mq.columns import input as inputs
from dataflex_mq.columns.device import DeviceJagged, DeviceTensor
from dataflex_mq.columns.dtypes import bits_of
from dataflex_mq.columns.encode import encode_columns
from dataflex_mq.columns.input import to_field_value
from dataflex_mq.columns.input_types import FieldValue
from dataflex_mq.columns.layout import layout_of
from dataflex_mq.columns.take_rows import take_rows
from dataflex_mq.columns.tensor import Jagged, Tensor
from dataflex_mq.errors import DataflexError

DTYPES = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.bool: "bool",
}


def elsewhere(value: FieldValue) -> FieldValue:
    """The same value as if it lay on another device: the code for devices is torch's alone, so it runs here as it does there."""
    if isinstance(value, Tensor):
        return DeviceTensor(value.dtype, as_torch(value.dtype, value.data))
    assert isinstance(value, Jagged)
    return DeviceJagged(value.dtype, as_torch(value.dtype, value.values), value.lengths, value.width)


def as_torch(dtype: str, data: np.ndarray) -> torch.Tensor:
    wanted = next(torch_dtype for torch_dtype, name in DTYPES.items() if name == dtype)
    return torch.from_numpy(np.ascontiguousarray(data).view({1: "u1", 2: "i2", 4: "i4", 8: "i8"}[data.itemsize])).view(
        wanted
    )


def encode(values: dict[str, FieldValue], scope: str, lengths: np.ndarray | None = None) -> tuple[list[Any], bytes]:
    layout = layout_of(values, next(iter(values.values())).rows, lengths)
    encoded = encode_columns(values, {"x": scope}, layout)
    return encoded.columns, b"".join(part.tobytes() for part in encoded.parts)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_keeps_its_bits(dtype: torch.dtype) -> None:
    given = torch.tensor([[1, 0, 1], [0, 1, 1]]).to(dtype)
    if dtype.is_floating_point:
        given[0, 0], given[1, 0] = float("nan"), -0.0
    value = to_field_value("x", given)
    assert isinstance(value, Tensor)
    assert value.dtype == DTYPES[dtype]
    size = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[given.element_size()]
    assert bits_of(value.data).tobytes() == given.view(size).numpy().tobytes()


def test_bfloat16_travels_as_its_words() -> None:
    value = to_field_value("x", torch.tensor([1.0, -2.5, 3.1415927], dtype=torch.bfloat16))
    assert isinstance(value, Tensor)
    assert value.data.tobytes() == bytes.fromhex("803f20c04940")


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")
@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
@pytest.mark.parametrize("lengths", [[3, 2, 4], [3, 3, 3], [1], [0, 2, 0]])
def test_nested_tensors_are_ragged_whatever_the_lengths(layout: torch.layout, lengths: list[int]) -> None:
    rows = [torch.arange(n, dtype=torch.float32) + 10 * i for i, n in enumerate(lengths)]
    value = to_field_value("x", torch.nested.nested_tensor(rows, layout=layout))
    assert isinstance(value, Jagged)
    assert value.lengths.tolist() == lengths
    assert value.values.tolist() == [number for row in rows for number in row.tolist()]
    assert isinstance(to_field_value("x", rows), Jagged)


def test_narrowed_nested_tensors_hold_their_rows_alone() -> None:
    base = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    starts, lengths = torch.tensor([0, 1, 2]), torch.tensor([2, 3, 1])
    nested = torch.nested.narrow(base, 1, starts, lengths, layout=torch.jagged)
    value = to_field_value("x", nested)
    assert isinstance(value, Jagged)
    assert value.lengths.tolist() == [2, 3, 1]
    assert value.values.tolist() == [0, 1, 5, 6, 7, 10]


def test_a_tensor_is_not_copied_and_its_graph_is_left_alone() -> None:
    given = torch.ones(2, 3, requires_grad=True)
    value = to_field_value("x", given * 1)
    assert isinstance(value, Tensor)
    plain = torch.zeros(2, 3)
    shared = to_field_value("x", plain)
    plain[0, 0] = 5
    assert isinstance(shared, Tensor)
    assert shared.data[0, 0] == 5


def test_what_does_not_travel_is_refused() -> None:
    for wrong, message in (
        (torch.zeros(2, dtype=torch.complex64), "does not travel"),
        (torch.zeros(2, 2, 2), "a field is"),
        (torch.zeros(2, 2).to_sparse(), "a field is"),
        (torch.nested.nested_tensor([torch.zeros(2, 2)], layout=torch.jagged), "3 dimensions"),
    ):
        with pytest.raises(DataflexError, match=message):
            to_field_value("x", wrong)


def test_a_tensor_elsewhere_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    meta = torch.zeros(4, 3, device="meta")
    value = to_field_value("x", meta)
    assert isinstance(value, DeviceTensor)
    assert value.data.device.type == "meta"
    monkeypatch.setattr(inputs, "to_numpy", None)
    assert isinstance(to_field_value("x", meta), DeviceTensor)


@st.composite
def matrices(draw: st.DrawFn) -> dict[str, Any]:
    rows, width = draw(st.tuples(st.integers(0, 5), st.integers(0, 9)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = rng.integers(0, width + 1, rows).astype(np.int32)
    if rows > 0:
        lengths[0] = width
    prefix = np.arange(width) < lengths[:, None]
    mask = prefix & (rng.random((rows, width)) < draw(st.sampled_from([0.5, 0.9, 1.1])))
    kind = draw(st.sampled_from(["free", "rows", "few", "last", "zero"]))
    x = rng.normal(size=(rows, width)).astype(np.float32)
    if kind == "rows":
        x = np.broadcast_to(x[:, :1], x.shape).copy()
    if kind == "few":
        x[rng.random(x.shape) < 0.8] = 0
    if kind in ("last", "zero"):
        x[:, :] = 0
    if kind == "last" and width > 0:
        x[np.arange(rows), np.maximum(lengths - 1, 0)] = 1.5
    dtype = draw(st.sampled_from([np.float32, np.float64, np.float16, np.int64, np.int8]))
    return {"x": x.astype(dtype), "mask": mask, "lengths": lengths, "prefix": prefix, "dtype": dtype}


@settings(max_examples=100, deadline=None)
@given(matrices(), st.sampled_from(["mask", "response"]), st.booleans())
def test_tensors_elsewhere_give_the_same_bytes(given: dict[str, Any], scope: str, known: bool) -> None:
    lengths = given["lengths"] if known else None
    here = {"response_mask": to_field_value("response_mask", given["mask"]), "x": to_field_value("x", given["x"])}
    expected = encode(here, scope, lengths)
    assert encode({name: elsewhere(value) for name, value in here.items()}, scope, lengths) == expected
    if not known:
        return
    prefix, width, x = given["prefix"], given["x"].shape[1], here["x"]
    assert isinstance(x, Tensor)
    flat = {
        "response_mask": Jagged("bool", given["mask"][prefix].view(np.uint8), given["lengths"], width),
        "x": Jagged(x.dtype, given["x"][prefix], given["lengths"], width),
    }
    assert encode({name: elsewhere(value) for name, value in flat.items()}, scope, lengths) == expected


def test_rows_of_tensors_elsewhere_are_taken_there() -> None:
    order = np.array([2, 0])
    dense = take_rows(DeviceTensor("f32", torch.arange(6.0).reshape(3, 2)), order)
    ragged = take_rows(DeviceJagged("f32", torch.arange(6.0), np.array([2, 0, 4], np.int32), 4), order)
    assert isinstance(dense, DeviceTensor)
    assert isinstance(ragged, DeviceJagged)
    assert dense.data.tolist() == [[4, 5], [0, 1]]
    assert (ragged.values.tolist(), ragged.lengths.tolist()) == ([2, 3, 4, 5, 0, 1], [4, 2])


def test_a_mask_elsewhere_that_is_none_is_refused_with_its_place() -> None:
    wrong = DeviceTensor("f32", torch.tensor([[1.0, 1.0], [1.0, 0.5]]))
    with pytest.raises(DataflexError, match=r"is 0\.5 in row 1, column 1"):
        layout_of({"response_mask": wrong}, 2)


def test_views_that_are_negated_lazily_keep_their_values() -> None:
    """Their storage holds the numbers with the other sign."""
    lazy = torch.complex(torch.zeros(2, 3), torch.arange(6.0).reshape(2, 3)).conj().imag
    assert lazy.is_neg()
    value = to_field_value("x", lazy)
    assert isinstance(value, Tensor)
    assert value.data.tolist() == lazy.tolist()
    assert value.data[1].tolist() == [-3, -4, -5]

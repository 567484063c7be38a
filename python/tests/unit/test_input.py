from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_mq.columns.input import to_field_value
from dataflex_mq.columns.tensor import Jagged, Strings, Tensor
from dataflex_mq.errors import DataflexError


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (np.float32, "f32"),
        (np.float64, "f64"),
        (np.float16, "f16"),
        (np.int8, "i8"),
        (np.uint8, "u8"),
        (np.int32, "i32"),
        (np.int64, "i64"),
        (np.bool_, "bool"),
        (np.int16, "i32"),
        (np.uint16, "i32"),
        (np.uint32, "i64"),
        (">f4", "f32"),
        (">i8", "i64"),
    ],
)
def test_arrays_keep_their_dtype_or_become_the_next_that_holds_them(given: Any, dtype: str) -> None:
    value = to_field_value("x", np.array([[1, 0], [1, 1]], dtype=given))
    assert isinstance(value, Tensor)
    assert value.dtype == dtype
    assert value.data.tolist() == [[1, 0], [1, 1]]


def test_an_array_is_not_copied() -> None:
    array = np.zeros((2, 3), dtype=np.float32)
    value = to_field_value("x", array)
    assert isinstance(value, Tensor)
    assert np.shares_memory(value.data, array)


def test_object_arrays_are_strings_and_nothing_else() -> None:
    assert to_field_value("uid", np.array(["u-1", "u-2"], dtype=object)) == Strings(["u-1", "u-2"])
    assert to_field_value("uid", np.array(["a", "b"])) == Strings(["a", "b"])
    assert to_field_value("uid", np.array([], dtype=object)) == Strings([])
    with pytest.raises(DataflexError, match="row 1"):
        to_field_value("uid", np.array(["u-1", 2], dtype=object))
    with pytest.raises(DataflexError, match="not a number"):
        to_field_value("x", np.array([{}, {}], dtype=object))


@pytest.mark.parametrize("lengths", [[3, 2, 4], [3, 3, 3], [1], [0, 0], [4]])
def test_a_list_of_rows_is_ragged_whatever_the_lengths(lengths: list[int]) -> None:
    rows = [[0.5] * n for n in lengths]
    arrays = [np.full(n, 0.5, dtype=np.float32) for n in lengths]
    for given in (rows, arrays):
        value = to_field_value("x", given)
        assert isinstance(value, Jagged)
        assert value.dtype == "f32"
        assert value.lengths.tolist() == lengths
        assert value.width == max(lengths)
    mask = to_field_value("response_mask", [[1] * n for n in lengths])
    assert isinstance(mask, Jagged)
    assert mask.dtype == "bool"


def test_values_and_lengths_are_ragged() -> None:
    value = to_field_value("x", {"values": np.arange(5, dtype=np.float64), "lengths": [2, 0, 3], "width": 6})
    assert isinstance(value, Jagged)
    assert (value.dtype, value.width, value.lengths.tolist()) == ("f64", 6, [2, 0, 3])


@pytest.mark.parametrize(("stored", "dtype"), [("<u2", "bf16"), ("u1", "bool"), ("f2", "f16"), ("f4", "f32")])
def test_a_label_names_what_the_array_holds(stored: str, dtype: str) -> None:
    values = np.array([1, 0, 1], dtype=stored)
    value = to_field_value("x", {"values": values, "lengths": [2, 1], "dtype": dtype})
    assert isinstance(value, Jagged)
    assert (value.dtype, value.values.dtype) == (dtype, values.dtype)
    assert value.values.tolist() == [1, 0, 1]


def test_lists_of_numbers_and_booleans_are_vectors() -> None:
    numbers, flags = to_field_value("x", [1, 0.5]), to_field_value("x", [True, False])
    assert isinstance(numbers, Tensor)
    assert isinstance(flags, Tensor)
    assert (numbers.dtype, flags.dtype) == ("f32", "bool")
    missing = to_field_value("x", [float("nan")])
    assert isinstance(missing, Tensor)
    assert np.isnan(missing.data[0])


@pytest.mark.parametrize(
    ("name", "given", "details", "message"),
    [
        ("x", [[-0.5, None, -0.7]], {"row": 0, "column": 1}, "say NaN where a value is missing"),
        ("x", [1.0, None], {"row": 1}, "not a number"),
        ("x", [[1.0], 2.0], {"row": 1}, "where the rows before are lists"),
        ("x", [[1e39]], {"row": 0, "column": 0}, "float32 cannot hold"),
        ("x", [["a"]], {"row": 0, "column": 0}, "not a number"),
        ("x", [[[1.0]]], {"row": 0, "column": 0}, "a list"),
        ("response_mask", [[1, 0.5]], {"row": 0, "column": 1}, "a mask holds only 0 and 1"),
        ("x", [True, 1], {"row": 1}, "not a boolean"),
        ("uid", ["a", None], {"row": 1}, "is None in row 1"),
        ("x", np.array([2**60]), {"row": 0}, r"beyond ±2\^53"),
        ("x", np.zeros((1, 1, 1)), {}, "a field is"),
        ("x", np.zeros(2, dtype=complex), {}, "does not travel"),
        ("x", np.zeros(2, dtype=np.uint64), {}, "does not travel"),
        ("x", np.ma.masked_array([1.0]), {}, "masked array"),
        ("x", None, {}, "NoneType"),
        ("x", {"values": np.zeros(3), "lengths": [1, 1]}, {}, "add up to 2"),
        ("x", {"values": np.zeros(2), "lengths": [2.0]}, {}, "whole numbers"),
        ("x", {"values": np.zeros(2), "lengths": [2], "width": 1}, {}, "its width is 1"),
        ("x", {"values": np.zeros(2, "f4"), "lengths": [2], "dtype": "bf16"}, {}, "is f32 and says dtype bf16"),
        ("x", {"values": np.zeros(2, "f4"), "lengths": [2], "dtype": "i32"}, {}, "is f32 and says dtype i32"),
        ("x", {"values": np.zeros(2, "i2"), "lengths": [2], "dtype": "bf16"}, {}, "is i32 and says dtype bf16"),
        ("x", {"values": [1.0, 2.0], "lengths": [2], "dtype": "f64"}, {}, "is f32 and says dtype f64"),
        ("x", {"values": np.zeros(2), "lengths": [2], "dtype": "f31"}, {}, "unknown dtype"),
        ("x", Tensor("bf16", np.zeros(2, "f4")), {}, "is bf16 in a float32 array"),
        ("x", Jagged("i64", np.zeros(2, "f8"), np.array([2], "i4"), 2), {}, "is i64 in a float64 array"),
        ("x", [np.zeros(1, np.float32), np.zeros(1)], {"row": 1}, "different types"),
        ("__proto__", [1.0], {}, "rename it"),
        ("constructor", [1.0], {}, "rename it"),
        ("a b", [1.0], {}, "not a field name"),
        ("x" * 97, [1.0], {}, "not a field name"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(name: str, given: Any, details: dict[str, int], message: str) -> None:
    with pytest.raises(DataflexError, match=message) as caught:
        to_field_value(name, given)
    assert caught.value.code == "INVALID_INPUT"
    assert {**caught.value.details, **details} == caught.value.details
    assert caught.value.details["field"] == name


def test_what_is_no_number_in_a_row_of_objects_is_named_with_its_row() -> None:
    rows = [np.array([1.0, 2.0], dtype=object), np.array([1.0, None, 3.0], dtype=object)]
    with pytest.raises(DataflexError, match="is None in row 1, column 1"):
        to_field_value("x", rows)

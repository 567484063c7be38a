"""Turns whatever a trainer has into a field that the encoder takes. The form decides, never the sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ..errors import error
from .device import DeviceJagged, DeviceTensor, dtype_of, is_torch_tensor, jagged_parts, to_numpy
from .dtypes import STORAGE, is_dtype
from .field_names import STRING_FIELDS, is_mask_field, validate_field_name
from .input_lists import from_list
from .input_types import FieldValue
from .tensor import Jagged, Strings, Tensor

# NumPy kinds and sizes that the wire has, and those that fit into one of its integers.
_NUMPY = {
    "f4": "f32",
    "f8": "f64",
    "f2": "f16",
    "i1": "i8",
    "u1": "u8",
    "i4": "i32",
    "i8": "i64",
    "b1": "bool",
    "i2": "i32",
    "u2": "i32",
    "u4": "i64",
}


def to_field_value(name: str, given: Any) -> FieldValue:
    """
    - NumPy array or torch tensor `(rows,)`, `(rows, width)`: as it is, dtype and bits; int16, uint16, uint32 become the next wire integer.
      Not copied. A tensor on another device stays there until its compact form is known.
    - torch nested tensor (either layout), `Jagged(dtype, values, lengths, width)`, `{"values", "lengths"[, "width"]}`: ragged.
    - object array or list of strings: one string a row.
    - list of numbers `(rows,)`, or of rows (lists, arrays, tensors), which is ragged even when the rows are equally long. Numbers of lists
      become f32, booleans and masks bool.

    Raises INVALID_INPUT with field, row and column: None (never 0), a number beyond f32, a mask element neither 0 nor 1, mixed or nested
    lists, another dtype or number of dimensions.
    """
    validate_field_name(name)
    if isinstance(given, (Tensor, Jagged)):
        return _stored(name, given)
    if isinstance(given, (Strings, DeviceTensor, DeviceJagged)):
        return given
    if is_torch_tensor(given):
        return _tensor(name, given)
    if isinstance(given, np.ndarray):
        return _array(name, given)
    if isinstance(given, (list, tuple)):
        if len(given) == 0 and name in STRING_FIELDS:
            return Strings([])
        return from_list(name, given, is_mask_field(name), lambda row: to_field_value(name, row))
    if isinstance(given, Mapping) and "values" in given and "lengths" in given:
        return _ragged(name, given)
    return refuse(name, f"is a {type(given).__name__}; send a NumPy array, a torch tensor or a list")


def _stored(name: str, given: Tensor | Jagged) -> Tensor | Jagged:
    data = given.data if isinstance(given, Tensor) else given.values
    if not is_dtype(given.dtype):
        refuse(name, f"has the unknown dtype {given.dtype!r}")
    if not isinstance(data, np.ndarray) or data.dtype != STORAGE[given.dtype]:
        have = getattr(data, "dtype", type(data).__name__)
        refuse(name, f"is {given.dtype} in a {have} array; {given.dtype} is held as {STORAGE[given.dtype]}")
    return given


def _array(name: str, given: np.ndarray) -> FieldValue:
    if isinstance(given, np.ma.MaskedArray):
        refuse(name, "is a masked array; fill it, or send the response_mask beside it")
    if given.dtype.kind in "OUT":
        if given.ndim != 1:
            refuse(name, f"is an array of objects of {given.ndim} dimensions; one string a row is (rows,)")
        return to_field_value(name, given.tolist())
    if given.ndim not in (1, 2):
        refuse(name, f"has the shape {given.shape}; a field is (rows,) or (rows, width)")
    if given.dtype.name == "bfloat16":
        return Tensor("bf16", given.view("u2").astype("<u2", copy=False))
    dtype = _NUMPY.get(f"{given.dtype.kind}{given.dtype.itemsize}")
    if dtype is None:
        refuse(name, f"is {given.dtype}, which does not travel; cast it to one of {', '.join(STORAGE)}")
    if given.dtype.kind == "b":
        return Tensor(dtype, given.view(np.uint8))
    data = given.astype(STORAGE[dtype], copy=False)
    if dtype == "i64" and not is_mask_field(name):
        _check_integers(name, data)
    return Tensor(dtype, data)


def _check_integers(name: str, data: np.ndarray) -> None:
    if data.size > 0 and (int(data.max()) > 2**53 or int(data.min()) < -(2**53)):
        at = [int(i[0]) for i in np.nonzero((data > 2**53) | (data < -(2**53)))]
        refuse(name, f"holds an integer beyond ±2^53 at {at}; readers hold numbers as float64", {"row": at[0]})


def _tensor(name: str, given: Any) -> FieldValue:
    dtype = dtype_of(given)
    if dtype is None:
        refuse(name, f"is {given.dtype}, which does not travel; cast it to one of {', '.join(STORAGE)}")
    if given.is_nested:
        if given.dim() != 2:
            refuse(name, f"is a nested tensor of {given.dim()} dimensions; a ragged field is (rows, tokens)")
        values, lengths = jagged_parts(given)
        width = int(lengths.max()) if len(lengths) else 0
        if values.device.type == "cpu":
            return Jagged(dtype, to_numpy(values), lengths, width)
        return DeviceJagged(dtype, values, lengths, width)
    if given.dim() not in (1, 2) or str(given.layout) != "torch.strided":
        refuse(name, f"has the shape {tuple(given.shape)} ({given.layout}); a field is (rows,) or (rows, width)")
    if given.device.type == "cpu":
        return Tensor(dtype, to_numpy(given))
    return DeviceTensor(dtype, given.detach())


def _ragged(name: str, given: Mapping[str, Any]) -> Jagged:
    dtype = given.get("dtype")
    value = _labelled(name, given["values"], dtype)
    if not isinstance(value, Tensor) or value.data.ndim != 1:
        refuse(name, "has values that are no flat array")
    lengths = check_lengths(name, given["lengths"])
    if int(lengths.sum(dtype=np.int64)) != len(value.data):
        refuse(name, f"has {len(value.data)} elements, its lengths add up to {int(lengths.sum(dtype=np.int64))}")
    longest = int(lengths.max()) if len(lengths) else 0
    width = int(given.get("width") or longest)
    if width < longest:
        refuse(name, f"has {longest} tokens in row {int(lengths.argmax())}, its width is {width}")
    return Jagged(value.dtype, value.data, lengths, width)


def _labelled(name: str, values: Any, dtype: Any) -> FieldValue:
    """Values under the dtype that they are said to have: it must be theirs, but for bf16 as 16-bit words and bool as bytes."""
    if dtype is None:
        return to_field_value(name, values)
    if not is_dtype(dtype):
        refuse(name, f"has the unknown dtype {dtype!r}")
    words = isinstance(values, np.ndarray) and values.dtype == STORAGE[dtype]
    value = Tensor(dtype, values) if words else to_field_value(name, values)
    if getattr(value, "dtype", None) != dtype:
        have = getattr(value, "dtype", "a column of strings")
        refuse(name, f"is {have} and says dtype {dtype}; drop the label, or send the values as {dtype}")
    return value


def check_lengths(name: str, given: Any) -> np.ndarray:
    """Lengths in tokens, one per row, as i32."""
    found = flat_array(name, given)
    if found.size == 0:
        return np.zeros(0, dtype=np.int32)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        refuse(name, f"has lengths of the shape {found.shape} and dtype {found.dtype}; send whole numbers, one per row")
    wrong = np.flatnonzero((found < 0) | (found > 0x7FFFFFFF))
    if len(wrong) > 0:
        refuse(name, f"has the length {found[wrong[0]]} in row {wrong[0]}", {"row": int(wrong[0])})
    return found.astype(np.int32)


def flat_array(name: str, given: Any) -> np.ndarray:
    """One value per row. Raises INVALID_INPUT if no array can be made from it."""
    try:
        return to_numpy(given) if is_torch_tensor(given) else np.asarray(given)
    except (ValueError, TypeError, RuntimeError) as cause:
        refuse(name, f"is no flat array ({cause}); send one value a row")


def refuse(field: str, why: str, details: dict[str, Any] | None = None) -> NoReturn:
    raise error("INVALID_INPUT", f'Field "{field}" {why}.', {"field": field, **(details or {})})

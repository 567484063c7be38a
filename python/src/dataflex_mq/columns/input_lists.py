"""Fields given as Python lists. They are expected to be small: lists are for first tries, arrays for training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..errors import error
from .device import DeviceTensor, is_torch_tensor, to_numpy
from .dtypes import STORAGE
from .input_types import FieldValue
from .tensor import Jagged, Strings, Tensor

FLOAT32_MAX = float(np.finfo(np.float32).max)


def from_list(field: str, given: Sequence[Any], mask: bool, convert: Callable[[Any], FieldValue]) -> FieldValue:
    """Numbers or booleans `(rows,)`, strings, or rows (ragged). The first element says which; the others must be alike."""
    first = given[0] if len(given) > 0 else None
    if isinstance(first, str):
        for row, text in enumerate(given):
            if not isinstance(text, str):
                _refuse(field, f"is {_shown(text)} in row {row}, where the rows before are strings", {"row": row})
        return Strings([str(text) for text in given])
    if _is_row(first) or (mask and len(given) == 0):
        return _rows(field, given, mask, convert)
    dtype = "bool" if mask or isinstance(first, (bool, np.bool_)) else "f32"
    return Tensor(dtype, _numbers(field, given, dtype, mask, None))


def _is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (getattr(value, "ndim", 0) == 1)


def _rows(field: str, given: Sequence[Any], mask: bool, convert: Callable[[Any], FieldValue]) -> Jagged:
    for i, row in enumerate(given):
        if not _is_row(row):
            _refuse(field, f"is {_shown(row)} in row {i}, where the rows before are lists", {"row": i})
    lengths = np.array([len(row) for row in given], dtype=np.int32)
    width = int(lengths.max()) if len(lengths) else 0
    if any(not isinstance(row, (list, tuple)) for row in given):
        return _arrays(field, given, lengths, width, convert)
    first = next((row[0] for row in given if len(row) > 0), None)
    dtype = "bool" if mask or isinstance(first, (bool, np.bool_)) else "f32"
    pieces = [_numbers(field, row, dtype, mask, i) for i, row in enumerate(given)]
    return Jagged(dtype, np.concatenate([np.zeros(0, STORAGE[dtype]), *pieces]), lengths, width)


def _arrays(
    field: str, given: Sequence[Any], lengths: np.ndarray, width: int, convert: Callable[[Any], FieldValue]
) -> Jagged:
    for i, row in enumerate(given):
        if isinstance(row, np.ndarray) and row.dtype.kind == "O":
            column = next((j for j, one in enumerate(row.tolist()) if not isinstance(one, (int, float))), None)
            if column is not None:
                _refuse_at(field, f"is {_shown(row[column])}", "not a number", i, column)
    values = [value for value in map(convert, given) if isinstance(value, (Tensor, DeviceTensor))]
    if len(values) < len(given):
        _refuse(field, "has rows that are no arrays of numbers")
    dtypes = [value.dtype for value in values]
    odd = next((i for i, dtype in enumerate(dtypes) if dtype != dtypes[0]), None)
    if odd is not None:
        _refuse(field, f"has rows of different types, from row {odd} on", {"row": odd})
    data = [to_numpy(value.data) if is_torch_tensor(value.data) else value.data for value in values]
    return Jagged(dtypes[0], np.concatenate(data), lengths, width)


def _numbers(field: str, given: Sequence[Any], dtype: str, mask: bool, row: int | None) -> np.ndarray:
    for column, value in enumerate(given):
        if isinstance(value, (bool, np.bool_)) and dtype == "bool":
            continue
        if mask and isinstance(value, (int, float, np.number)) and value in (0, 1):
            continue
        if dtype == "f32" and isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
            if FLOAT32_MAX < abs(float(value)) < math.inf:
                _refuse_at(field, f"is {value}", "which float32 cannot hold", row, column)
            continue
        why = "and a mask holds only 0 and 1" if mask else f"not a {'boolean' if dtype == 'bool' else 'number'}"
        _refuse_at(field, f"is {_shown(value)}", why, row, column)
    return np.array(given, dtype=STORAGE[dtype])


def _refuse_at(field: str, what: str, why: str, row: int | None, column: int) -> NoReturn:
    at = {"row": column} if row is None else {"row": row, "column": column}
    where = ", ".join(f"{key} {value}" for key, value in at.items())
    _refuse(field, f"{what} in {where}, {why}; say NaN where a value is missing", at)


def _refuse(field: str, why: str, details: dict[str, Any] | None = None) -> NoReturn:
    raise error("INVALID_INPUT", f'Field "{field}" {why}.', {"field": field, **(details or {})})


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "a list"
    return (
        str(value) if value is None or isinstance(value, (str, int, float, np.generic)) else f"a {type(value).__name__}"
    )

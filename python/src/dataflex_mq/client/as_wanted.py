"""A trainer's value for a field, in the forms that its kind allows beside its own."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..columns.device import is_torch_tensor, to_numpy
from ..columns.field_kinds import kind_of
from ..columns.input import refuse, to_field_value
from ..columns.input_types import FieldValue, is_matrix, is_ragged
from ..columns.tensor import Features, Jagged, Strings, Tensor


def as_wanted(need: Mapping[str, Any], given: Any) -> FieldValue:
    """
    Whole numbers and UUIDs for strings, as their text; `(rows, 1)` for one number a row; an empty list for no rows. Raises INVALID_INPUT
    as `to_field_value`.
    """
    name, kind = need["name"], kind_of(need)
    empty = isinstance(given, (list, tuple)) and len(given) == 0
    if kind == "strings":
        return Strings([]) if empty else _strings(name, given)
    if kind == "tokens" and empty:
        return Jagged("f32", np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int32), 0)
    if kind == "features" and isinstance(given, Features):
        return given
    value = to_field_value(name, given)
    if kind == "features":
        return _features(name, value)
    return _flat(value) if kind == "row" else value


def _features(name: str, value: FieldValue) -> Features:
    """(rows, d) in a float dtype of at most 32 bits; of ragged rows only where all are equally long."""
    if isinstance(value, (Strings, Features)):
        refuse(name, "holds strings; features are (rows, d) numbers")
    if value.dtype not in ("f32", "f16", "bf16"):
        refuse(name, f"holds {value.dtype}; features are f32, f16 or bf16: cast them")
    if is_matrix(value):
        return Features(value.dtype, value.data if isinstance(value.data, np.ndarray) else to_numpy(value.data))
    if not is_ragged(value):
        refuse(name, "has one number per row; features are (rows, d)")
    width = int(value.lengths[0]) if len(value.lengths) > 0 else 0
    odd = np.flatnonzero(value.lengths != width)
    if len(odd) > 0:
        row = int(odd[0])
        why = f"has {value.lengths[row]} numbers in row {row}, where row 0 has {width}; features are (rows, d)"
        refuse(name, why, {"row": row})
    values = value.values if isinstance(value.values, np.ndarray) else to_numpy(value.values)
    return Features(value.dtype, values.reshape(len(value.lengths), width))


def _flat(value: FieldValue) -> FieldValue:
    if isinstance(value, Jagged) and len(value.lengths) > 0 and bool((value.lengths == 1).all()):
        return Tensor(value.dtype, value.values)
    if is_matrix(value) and value.data.shape[1] == 1:
        return replace(value, data=value.data[:, 0])
    return value


def _strings(name: str, given: Any) -> FieldValue:
    if isinstance(given, Strings):
        return given
    ids = to_numpy(given) if is_torch_tensor(given) and not given.is_nested else given
    if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind in "iu":
        return Strings([str(one) for one in ids.tolist()])
    listed = ids.tolist() if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind == "O" else ids
    if isinstance(listed, (list, tuple)) and _is_id(listed[0]):
        for row, one in enumerate(listed):
            if not _is_id(one):
                refuse(name, f"is {one!r} in row {row}, where the rows before are ids of another type", {"row": row})
        return Strings([str(one) for one in listed])
    if isinstance(listed, (list, tuple)) and not isinstance(listed[0], str):
        refuse(name, f"is {listed[0]!r} in row 0; an id is a string, a whole number or a UUID", {"row": 0})
    return to_field_value(name, given)


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, np.integer, uuid.UUID)) and not isinstance(value, bool)

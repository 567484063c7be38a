"""What the encoder takes, wherever it lies."""

from __future__ import annotations

from .device import DeviceJagged, DeviceTensor
from .tensor import Jagged, Strings, Tensor

NumberValue = Tensor | Jagged | DeviceTensor | DeviceJagged
FieldValue = NumberValue | Strings


def is_vector(value: FieldValue) -> bool:
    """(rows,)"""
    return isinstance(value, (Tensor, DeviceTensor)) and len(value.data.shape) == 1


def is_ragged(value: FieldValue) -> bool:
    return isinstance(value, (Jagged, DeviceJagged))


def is_string(value: FieldValue) -> bool:
    return isinstance(value, Strings)

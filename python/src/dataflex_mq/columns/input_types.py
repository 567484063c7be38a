"""The values that the encoder takes, in this process's memory or on a device."""

from __future__ import annotations

from typing import TypeGuard

from .device import DeviceJagged, DeviceTensor
from .tensor import Features, Jagged, Strings, Tensor

NumberValue = Tensor | Jagged | DeviceTensor | DeviceJagged
FieldValue = NumberValue | Features | Strings


def is_vector(value: FieldValue) -> TypeGuard[Tensor | DeviceTensor]:
    """(rows,)"""
    return isinstance(value, (Tensor, DeviceTensor)) and len(value.data.shape) == 1


def is_matrix(value: FieldValue) -> TypeGuard[Tensor | DeviceTensor]:
    """(rows, width)"""
    return isinstance(value, (Tensor, DeviceTensor)) and len(value.data.shape) == 2


def is_ragged(value: FieldValue) -> TypeGuard[Jagged | DeviceJagged]:
    return isinstance(value, (Jagged, DeviceJagged))


def is_string(value: FieldValue) -> TypeGuard[Strings]:
    return isinstance(value, Strings)

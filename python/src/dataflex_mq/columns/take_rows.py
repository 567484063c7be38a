"""The rows of a field in another order."""

from __future__ import annotations

import numpy as np

from .device import DeviceJagged, DeviceTensor, torch_module
from .input_types import FieldValue
from .tensor import Jagged, Strings, Tensor


def take_rows(value: FieldValue, order: np.ndarray) -> FieldValue:
    """Row k of the answer is row `order[k]`. Copies; bits are kept."""
    if isinstance(value, Strings):
        return Strings([value.values[row] for row in order])
    if isinstance(value, Tensor):
        return Tensor(value.dtype, value.data[order])
    if isinstance(value, DeviceTensor):
        return DeviceTensor(value.dtype, value.data[_on(order, value.data.device)])
    lengths = value.lengths[order]
    starts = np.concatenate(([0], np.cumsum(value.lengths, dtype=np.int64)))[order]
    ends = np.cumsum(lengths, dtype=np.int64)
    index = np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)
    if isinstance(value, Jagged):
        return Jagged(value.dtype, value.values[index], lengths, value.width)
    return DeviceJagged(value.dtype, value.values[_on(index, value.values.device)], lengths, value.width)


def _on(index: np.ndarray, device: object) -> object:
    return torch_module().from_numpy(np.ascontiguousarray(index)).to(device)

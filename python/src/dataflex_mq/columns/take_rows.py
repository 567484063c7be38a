"""Rows in another order: row k of an answer is row `order[k]`. Copies; bits are kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .device import DeviceJagged, DeviceTensor, torch_module
from .input_types import FieldValue
from .mask import runs_of
from .tensor import Features, Jagged, MaskColumn, Strings, Tensor


def take_rows(value: FieldValue, order: np.ndarray) -> FieldValue:
    if isinstance(value, Strings):
        return Strings([value.values[row] for row in order])
    if isinstance(value, Features):
        return Features(value.dtype, value.data[order])
    if isinstance(value, Tensor):
        return Tensor(value.dtype, value.data[order])
    if isinstance(value, DeviceTensor):
        return DeviceTensor(value.dtype, value.data[_on(order, value.data.device)])
    lengths = value.lengths[order]
    index = flat_index(np.concatenate(([0], np.cumsum(value.lengths, dtype=np.int64)))[order], lengths)
    if isinstance(value, Jagged):
        return Jagged(value.dtype, value.values[index], lengths, value.width)
    return DeviceJagged(value.dtype, value.values[_on(index, value.values.device)], lengths, value.width)


def take_mask_rows(mask: MaskColumn, order: np.ndarray) -> MaskColumn:
    rows = len(order)
    if mask.lengths is not None:
        return replace(mask, rows=rows, lengths=mask.lengths[order])
    offsets, bounds = runs_of(mask)
    counts = np.diff(offsets)[order]
    taken = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    return replace(mask, rows=rows, offsets=taken, bounds=bounds[flat_index(offsets[:-1][order], counts)])


def flat_index(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Indices of the stretches `starts[k] … starts[k] + lengths[k]`, one after the other."""
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)


def _on(index: np.ndarray, device: object) -> object:
    return torch_module().from_numpy(np.ascontiguousarray(index)).to(device)

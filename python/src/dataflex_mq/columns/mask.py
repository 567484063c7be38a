"""A 0/1 token matrix as a column: `lengths` when every row's ones are a prefix, else `runs`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import error
from .dense_source import blocks, segments
from .device import DeviceJagged, DeviceTensor, to_numpy, torch_module
from .dtypes import MINUS_ZERO_BITS, ONE_BITS, bits_of
from .half import widen_bf16
from .input_types import NumberValue
from .tensor import Jagged, MaskColumn, Tensor


def mask_of(field: str, value: NumberValue, width: int) -> MaskColumn:
    """`width` is the padded width of the step. Raises INVALID_INPUT with row and column for an element that is neither 0 nor 1."""
    if isinstance(value, DeviceTensor):
        offsets, bounds = _device_runs(field, value)
    elif isinstance(value, DeviceJagged):
        here = Jagged(value.dtype, to_numpy(value.values), value.lengths, value.width)
        offsets, bounds = _flat_runs(field, here)
    elif isinstance(value, Jagged):
        offsets, bounds = _flat_runs(field, value)
    else:
        offsets, bounds = _dense_runs(field, value)
    return mask_column(value.dtype, width, offsets, bounds)


def mask_column(dtype: str, width: int, offsets: np.ndarray, bounds: np.ndarray) -> MaskColumn:
    """The column of runs `bounds` (runs, 2), row i's being those of `offsets[i] … offsets[i + 1]`."""
    rows = len(offsets) - 1
    counts = np.diff(offsets)
    if len(bounds) == 0 or (counts.max() <= 1 and not bounds[:, 0].any()):
        lengths = np.zeros(rows, dtype=np.int32)
        lengths[counts > 0] = bounds[:, 1]
        return MaskColumn(dtype, rows, width, lengths)
    return MaskColumn(dtype, rows, width, None, offsets, bounds)


def same_mask(a: MaskColumn, b: MaskColumn) -> bool:
    """Whether two masks mean the same tokens."""
    if a is b:
        return True
    if a.rows != b.rows or a.kind != b.kind:
        return False
    if a.lengths is not None and b.lengths is not None:
        return bool(np.array_equal(a.lengths, b.lengths))
    (offsets, bounds), (others, other_bounds) = runs_of(a), runs_of(b)
    return bool(np.array_equal(offsets, others) and np.array_equal(bounds, other_bounds))


def runs_of(mask: MaskColumn) -> tuple[np.ndarray, np.ndarray]:
    """A mask of either kind as runs: offsets (rows + 1), bounds (runs, 2)."""
    if mask.lengths is None:
        assert mask.offsets is not None
        assert mask.bounds is not None
        return mask.offsets, mask.bounds
    some = mask.lengths > 0
    offsets = np.concatenate(([0], np.cumsum(some, dtype=np.int64)))
    stops = mask.lengths[some]
    return offsets, np.stack((np.zeros_like(stops), stops), axis=1).astype(np.int32)


def _dense_runs(field: str, value: Tensor) -> tuple[np.ndarray, np.ndarray]:
    rows, width = value.data.shape
    if width == 0:
        return np.zeros(rows + 1, dtype=np.int64), np.zeros((0, 2), dtype=np.int32)
    bits = bits_of(value.data)
    counts: list[np.ndarray] = []
    bounds: list[np.ndarray] = []
    for start, stop in blocks(rows, width):
        row, column = segments(bits[start:stop])
        words = bits[start + row, column]
        ones = words == ONE_BITS[value.dtype]
        valid = ones | _zeros(value.dtype, words)
        if not valid.all():
            at = int(np.argmin(valid))
            _refuse(field, value.dtype, value.data[start + row[at], column[at]], start + int(row[at]), int(column[at]))
        # A stretch ends where the next one begins, or with its row.
        ends = np.append(column[1:], 0)
        ends[ends == 0] = width
        counts.append(np.bincount(row[ones], minlength=stop - start))
        bounds.append(np.stack((column[ones], ends[ones]), axis=1).astype(np.int32))
    return _joined(counts, bounds)


def _flat_runs(field: str, value: Jagged) -> tuple[np.ndarray, np.ndarray]:
    bits = bits_of(value.values)
    starts = np.concatenate(([0], np.cumsum(value.lengths, dtype=np.int64)))
    ones = bits == ONE_BITS[value.dtype]
    valid = ones | _zeros(value.dtype, bits)
    if not valid.all():
        at = int(np.argmin(valid))
        row = int(np.searchsorted(starts, at, side="right")) - 1
        _refuse(field, value.dtype, value.values[at], row, at - int(starts[row]))
    # One 0 between the rows keeps their runs apart.
    gaps = np.arange(value.rows)
    place = np.arange(len(bits)) + np.repeat(gaps, value.lengths) + 1
    edged = np.zeros(len(bits) + value.rows + 1, dtype=bool)
    edged[place] = ones
    edges = np.flatnonzero(edged[1:] != edged[:-1])
    firsts = starts[:-1] + gaps
    owners = np.searchsorted(firsts, edges[::2], side="right") - 1
    bounds = (edges.reshape(-1, 2) - firsts[owners][:, None]).astype(np.int32)
    return _joined([np.bincount(owners, minlength=value.rows)], [bounds])


def _device_runs(field: str, value: DeviceTensor) -> tuple[np.ndarray, np.ndarray]:
    torch = torch_module()
    ones = value.data == 1
    valid = ones | (value.data == 0)
    if not bool(valid.all()):
        row, column = (int(at) for at in torch.nonzero(~valid)[0])
        _refuse(field, value.dtype, value.data[row, column].float().cpu().numpy(), row, column)
    edged = torch.nn.functional.pad(ones, (1, 1))
    edges = torch.nonzero(edged[:, 1:] != edged[:, :-1]).cpu().numpy()
    counts = np.bincount(edges[::2, 0], minlength=value.rows)
    return _joined([counts], [edges[:, 1].reshape(-1, 2).astype(np.int32)])


def _joined(counts: list[np.ndarray], bounds: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate(([0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *counts]), dtype=np.int64)))
    return offsets, np.concatenate([np.zeros((0, 2), np.int32), *bounds])


def _zeros(dtype: str, bits: np.ndarray) -> np.ndarray:
    zeros = bits == 0
    if dtype in MINUS_ZERO_BITS:
        zeros |= bits == MINUS_ZERO_BITS[dtype]
    return zeros


def _refuse(field: str, dtype: str, value: Any, row: int, column: int) -> None:
    shown = float(widen_bf16(np.array([value]))[0]) if dtype == "bf16" and value.dtype == np.uint16 else value.item()
    raise error(
        "INVALID_INPUT",
        f'Field "{field}" is {shown} in row {row}, column {column}; a mask holds only 0 and 1.',
        {"field": field, "row": row, "column": column},
    )

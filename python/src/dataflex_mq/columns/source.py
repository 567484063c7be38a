"""The token source that fits a value."""

from __future__ import annotations

import numpy as np

from .dense_source import DenseSource
from .device import DeviceJagged, DeviceTensor
from .device_source import DeviceSource
from .flat_source import FlatSource
from .input_types import NumberValue
from .spans import Spans
from .tensor import Jagged
from .token_source import TokenSource


def source_of(field: str, value: NumberValue, spans: Spans) -> TokenSource:
    """Raises INVALID_INPUT when a row holds fewer tokens than are in scope."""
    if isinstance(value, DeviceTensor):
        return DeviceSource(field, value.dtype, value.data, None, spans)
    if isinstance(value, DeviceJagged):
        return DeviceSource(field, value.dtype, value.values, value.lengths, spans)
    if isinstance(value, Jagged):
        return FlatSource(field, value.dtype, value.values, value.lengths, spans)
    return DenseSource(field, value.dtype, value.data, spans)


def stored_lengths(value: NumberValue) -> int | np.ndarray:
    """How many tokens a row holds: one number, or one per row."""
    if isinstance(value, (Jagged, DeviceJagged)):
        return value.lengths
    return int(value.data.shape[1])

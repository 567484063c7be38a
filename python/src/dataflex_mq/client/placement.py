"""The dtype and the device that a caller asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..columns.device import torch_module
from ..errors import DataflexError, error


def numpy_float(dtype: Any) -> np.dtype[Any]:
    """Default float32. Raises INVALID_INPUT: weights are fractions, which an integer would cut off."""
    try:
        found = np.dtype(np.float32 if dtype is None else dtype)
    except TypeError as cause:
        raise _no_float(dtype) from cause
    if found.kind != "f" or found.itemsize > 8:
        raise _no_float(dtype)
    return found


def torch_float(dtype: Any) -> Any:
    """Default float32. Raises INVALID_INPUT."""
    torch = torch_module()
    found = torch.float32 if dtype is None else dtype
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise _no_float(dtype)
    return found


def torch_place(device: Any, default: Any) -> Any:
    """Raises INVALID_INPUT."""
    try:
        return default if device is None else torch_module().device(device)
    except (RuntimeError, TypeError) as cause:
        raise error("INVALID_INPUT", f"device is {device!r}, which torch does not know ({cause})") from cause


def _no_float(dtype: Any) -> DataflexError:
    message = f"dtype is {dtype!r}; weights are fractions: name a floating-point dtype of the mask's library"
    return error("INVALID_INPUT", message, {"argument": "dtype"})

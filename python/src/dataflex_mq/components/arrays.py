"""NumPy arrays as the arrays that a component works with, and back."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


class NumpyArrays:
    """Hands NumPy arrays out as they are."""

    device = "cpu"

    def give(self, values: np.ndarray, stored: str | None = None) -> np.ndarray:
        return values


class TorchArrays:
    """Hands torch tensors out on a device, in the dtype that the trainer posted."""

    def __init__(self, device: str) -> None:
        import torch

        self.device = device
        self._torch = torch
        self._halves = {"bf16": torch.bfloat16, "f16": torch.float16}

    def give(self, values: np.ndarray, stored: str | None = None) -> Any:
        # Shares the memory of the array, which is writable and used by nothing else.
        tensor = self._torch.from_numpy(values)
        dtype = self._halves.get(stored or "", tensor.dtype)
        return tensor.to(device=self.device, dtype=dtype)


Arrays = NumpyArrays | TorchArrays


def to_numpy(value: Any) -> np.ndarray | None:
    """A tensor of any device and dtype, an array, a number or a list of numbers as a NumPy array; None for anything else."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        found = value.detach()
        if found.is_nested:
            return None
        if found.is_floating_point() and found.dtype not in (torch.float32, torch.float64):
            found = found.float()
        return np.asarray(found.cpu().numpy())
    if isinstance(value, np.ndarray):
        found = value
    elif isinstance(value, list | tuple):
        try:
            found = np.array([to_item(item) for item in value])
        except (TypeError, ValueError):
            return None
    else:
        return None
    return found if found.dtype.kind in "fiub" else None


def to_item(value: Any) -> Any:
    """A one-element tensor or array as a number; lists item by item."""
    if isinstance(value, list | tuple):
        return [to_item(item) for item in value]
    return value.item() if hasattr(value, "item") else value

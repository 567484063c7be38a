"""Torch tensors. torch itself is imported only once a tensor is passed in."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

_DTYPES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int8": "i8",
    "uint8": "u8",
    "int32": "i32",
    "int64": "i64",
    "bool": "bool",
}
_WORDS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


@dataclass(frozen=True, slots=True)
class DeviceTensor:
    """A torch tensor `(rows,)` or `(rows, width)` that is not in this process's memory."""

    dtype: str
    data: Any

    @property
    def rows(self) -> int:
        return int(self.data.shape[0])


@dataclass(frozen=True, slots=True)
class DeviceJagged:
    """A ragged torch tensor on another device: `values` holds each row's tokens, row after row; `lengths` is in this process's memory."""

    dtype: str
    values: Any
    lengths: np.ndarray
    width: int

    @property
    def rows(self) -> int:
        return len(self.lengths)


def torch_module() -> Any:
    import torch

    return torch


def is_torch_tensor(value: object) -> bool:
    """Does not import torch: a caller that holds a tensor has done so."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def dtype_of(tensor: Any) -> str | None:
    """The wire's name of a tensor's dtype; None for one that the wire does not have."""
    return _DTYPES.get(str(tensor.dtype).removeprefix("torch."))


def words_of(tensor: Any) -> Any:
    """The bits of a tensor as integers of its element size, in place. (Torch has few unsigned types: signed from 2 bytes on.)"""
    return tensor.view(getattr(torch_module(), _WORDS[tensor.element_size()]))


def to_numpy(tensor: Any) -> np.ndarray:
    """A tensor's elements in the storage of its dtype; in place if the tensor is in this process's memory."""
    # A lazily negated view still has the bits of the original.
    tensor = tensor.detach().resolve_neg()
    torch = torch_module()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).cpu().numpy().view("<u2")
    if tensor.dtype == torch.bool:
        return tensor.view(torch.uint8).cpu().numpy()
    return tensor.cpu().numpy()


def jagged_parts(tensor: Any) -> tuple[Any, np.ndarray]:
    """
    Values (tokens of all rows side by side, on the tensor's device) and lengths (rows,) of a nested tensor, of either of torch's layouts.
    """
    torch = torch_module()
    tensor = tensor.detach()
    if tensor.layout != torch.jagged:
        rows = tensor.unbind()
        values = torch.cat([row.reshape(-1) for row in rows]) if rows else torch.zeros(0)
        return values, np.array([row.numel() for row in rows], dtype=np.int32)
    values, offsets = tensor.values(), tensor.offsets().cpu().numpy()
    held = tensor.lengths()
    if held is None:
        # Rows may begin after the buffer's start, and end before its end.
        return values[int(offsets[0]) : int(offsets[-1])], np.diff(offsets).astype(np.int32)
    lengths = held.cpu().numpy().astype(np.int64)
    starts = np.repeat(offsets[: len(lengths)] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
    index = torch.from_numpy(starts + np.arange(int(lengths.sum()))).to(values.device)
    return values[index], lengths.astype(np.int32)

"""The batch as classes written for DataFlex-RL read it: verl's DataProto, as far as they touch it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...columns.tensor import FeaturesColumn, StringsColumn, VectorColumn
from ...components.arrays import TorchArrays
from ...components.step_columns import StepColumns


class TensorFields:
    """The numeric fields, as a TensorDict: each is made when it is first read, padded with 0 to the longest response."""

    def __init__(self, fields: dict[str, Any], make: dict[str, Any], rows: int, device: Any) -> None:
        self._fields = fields
        self._make = make
        self._rows = rows
        self.device = device

    @property
    def batch_size(self) -> Any:
        import torch

        return torch.Size([self._rows])

    def __getitem__(self, name: str) -> Any:
        if name not in self._fields:
            if name not in self._make:
                known = ", ".join(self.keys()) or "none"
                raise KeyError(f"there is no field '{name}' in this batch (it has {known}); declare it in requires")
            self._fields[name] = self._make[name]()
        return self._fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def keys(self) -> list[str]:
        return list(dict.fromkeys([*self._fields, *self._make]))

    def __contains__(self, name: object) -> bool:
        return name in self._fields or name in self._make

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return self._rows


class OriginalBatch:
    """`batch`: tensors by field. `non_tensor_batch`: object arrays of strings. Rows that only fill the batch up are not here."""

    def __init__(self, batch: TensorFields, non_tensor_batch: dict[str, np.ndarray]) -> None:
        self.batch = batch
        self.non_tensor_batch = non_tensor_batch
        self.meta_info: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.batch)

    def __getitem__(self, rows: Any) -> OriginalBatch:
        """The same as `select_idxs`."""
        return self.select_idxs(rows)

    def select_idxs(self, rows: Any) -> OriginalBatch:
        """The rows of a slice, a list of indices, or a mask."""
        picked = list(range(len(self)))[rows] if isinstance(rows, slice) else rows
        index = np.atleast_1d(np.asarray(picked.cpu() if hasattr(picked, "cpu") else picked))
        index = np.flatnonzero(index) if index.dtype == bool else index.astype(np.int64)
        fields = {name: self.batch[name][index] for name in self.batch}
        strings = {name: values[index] for name, values in self.non_tensor_batch.items()}
        return OriginalBatch(TensorFields(fields, {}, len(index), self.batch.device), strings)

    def to(self, device: Any) -> OriginalBatch:
        """The same batch with its tensors on a device."""
        fields = {name: self.batch[name].to(device) for name in self.batch}
        return OriginalBatch(TensorFields(fields, {}, len(self), device), self.non_tensor_batch)


def original_batch(columns: StepColumns, arrays: TorchArrays, names: Sequence[str]) -> OriginalBatch:
    """The fields `names`, those that the step has."""
    import torch

    make: dict[str, Any] = {}
    strings: dict[str, np.ndarray] = {}
    for name in names:
        column = columns.fields.get(name)
        if isinstance(column, StringsColumn):
            strings[name] = np.array(column.values(), dtype=object)
        elif isinstance(column, VectorColumn):
            make[name] = lambda name=name: arrays.give(columns.vector(name), columns.dtype(name))
        elif isinstance(column, FeaturesColumn):
            make[name] = lambda name=name: arrays.give(columns.features(name), columns.dtype(name))
        elif column is not None or name == "response_mask":
            make[name] = lambda name=name: arrays.give(columns.padded(name), columns.stored.get(name))
    return OriginalBatch(TensorFields({}, make, columns.rows, torch.device(arrays.device)), strings)

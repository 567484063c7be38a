"""
A torch tensor on another device, padded or ragged: the questions are answered there, and only the compact form is copied here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import torch_module, words_of
from .dtypes import bits_of
from .spans import Spans
from .token_source import check_holds


class DeviceSource:
    """`data` is (rows, width), or with `lengths` the tokens of each row side by side."""

    def __init__(self, field: str, dtype: str, data: Any, lengths: np.ndarray | None, spans: Spans) -> None:
        check_holds(field, int(data.shape[1]) if lengths is None else lengths, spans)
        self.dtype = dtype
        self.spans = spans
        self._torch = torch_module()
        self._device = data.device
        words = words_of(data)
        if lengths is None:
            whole = spans.whole and words.shape[1] == spans.width
            self._flat = words.reshape(-1) if whole else words[self._inside()[:, : words.shape[1]]]
        else:
            self._flat = words if spans.total == words.shape[0] else words[self._to(spans.flat_inside(lengths))]
        self._counts = self._to(spans.counts.astype(np.int64))
        self._starts = self._torch.cumsum(self._counts, 0) - self._counts

    def is_row_constant(self) -> bool:
        per_token = self._torch.repeat_interleave(self._first_words(), self._counts, output_size=self.spans.total)
        return bool(self._torch.equal(self._flat, per_token))

    def is_last_only(self) -> bool:
        return self.count_nonzero(0) == int(self._torch.count_nonzero(self._last_words()))

    def count_nonzero(self, budget: int) -> int:
        return int(self._torch.count_nonzero(self._flat))

    def firsts(self) -> np.ndarray:
        return _here(self._first_words())

    def lasts(self) -> np.ndarray:
        return _here(self._last_words())

    def dense(self) -> np.ndarray:
        if self.spans.whole:
            return _here(self._flat)
        out = self._flat.new_zeros((self.spans.rows, self.spans.width))
        out[self._inside()] = self._flat
        return _here(out.reshape(-1))

    def jagged(self) -> np.ndarray:
        return _here(self._flat)

    def sparse(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        torch = self._torch
        found = torch.nonzero(self._flat).reshape(-1)
        rows = torch.repeat_interleave(self._counts, output_size=self.spans.total)[found]
        counts = torch.bincount(rows, minlength=self.spans.rows)
        columns = torch.nonzero(self._inside())[:, 1][found]
        integers = [part.to(torch.int32).cpu().numpy() for part in (counts, columns)]
        return integers[0], integers[1], _here(self._flat[found])

    def _first_words(self) -> Any:
        return self._at(self._starts)

    def _last_words(self) -> Any:
        return self._at(self._starts + self._counts - 1)

    def _at(self, places: Any) -> Any:
        out = self._flat.new_zeros(self.spans.rows)
        rows = self._torch.nonzero(self._counts).reshape(-1)
        out[rows] = self._flat[places[rows]]
        return out

    def _inside(self) -> Any:
        """The scope as a bool matrix on the device; made there where the scope is a prefix."""
        spans = self.spans
        if spans.offsets is not None:
            return self._to(spans.inside(0, spans.rows))
        positions = self._torch.arange(spans.width, device=self._device)
        return positions < self._to(spans.counts.astype(np.int64))[:, None]

    def _to(self, array: np.ndarray) -> Any:
        return self._torch.from_numpy(np.ascontiguousarray(array)).to(self._device)


def _here(words: Any) -> np.ndarray:
    return bits_of(words.cpu().numpy())

"""Which tokens are in scope: per row either a prefix, or runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import error
from .tensor import Layout, MaskColumn


@dataclass(frozen=True)
class Spans:
    """
    Row i has `counts[i]` tokens in scope: its first ones, or, with `offsets` (rows + 1) and `bounds` (runs, 2), those of its runs
    `[start, stop)`, which ascend and never touch. `total` is the sum of `counts`.
    """

    rows: int
    width: int
    counts: np.ndarray
    offsets: np.ndarray | None = None
    bounds: np.ndarray | None = None
    total: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", int(self.counts.sum(dtype=np.int64)))

    @property
    def whole(self) -> bool:
        return self.total == self.rows * self.width

    def firsts(self) -> np.ndarray:
        """Each row's first token in scope; 0 where there is none."""
        if self.offsets is None or self.bounds is None or len(self.bounds) == 0:
            return np.zeros(self.rows, dtype=np.int64)
        at = np.minimum(self.offsets[:-1], len(self.bounds) - 1)
        return np.where(self.counts > 0, self.bounds[at, 0], 0).astype(np.int64)

    def ends(self) -> np.ndarray:
        """One past each row's last token in scope; 0 where there is none."""
        if self.offsets is None or self.bounds is None:
            return self.counts.astype(np.int64)
        if len(self.bounds) == 0:
            return np.zeros(self.rows, dtype=np.int64)
        at = np.maximum(self.offsets[1:] - 1, 0)
        return np.where(self.counts > 0, self.bounds[at, 1], 0).astype(np.int64)

    def inside(self, start: int, stop: int) -> np.ndarray:
        """Rows `start … stop` as a bool matrix (stop - start, width): True where a token is in scope."""
        if self.offsets is None or self.bounds is None:
            positions = np.arange(self.width, dtype=np.int32)
            return positions < self.counts[start:stop, None].astype(np.int32)
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        row = np.repeat(np.arange(stop - start), np.diff(self.offsets[start : stop + 1]))
        edges = self.bounds[first:last] + row[:, None] * self.width
        return _between(edges, (stop - start) * self.width).reshape(stop - start, self.width)

    def flat_inside(self, lengths: np.ndarray) -> np.ndarray:
        """The same for rows that lie one after another, `lengths[i]` tokens of row i: bool (sum of lengths,)."""
        bases = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        if self.offsets is None or self.bounds is None:
            starts, stops = bases[:-1], bases[:-1] + self.counts
        else:
            base = np.repeat(bases[:-1], np.diff(self.offsets))
            starts, stops = base + self.bounds[:, 0], base + self.bounds[:, 1]
        return _between(np.stack((starts, stops), axis=1), int(bases[-1]))


def _between(edges: np.ndarray, size: int) -> np.ndarray:
    """bool (size,): True from each start to its stop. `edges` (n, 2) never decreases."""
    flat = np.concatenate(([0], edges.reshape(-1), [size]))
    # Segments alternate between outside and inside.
    inside = np.zeros(len(flat) - 1, dtype=bool)
    inside[1::2] = True
    return np.repeat(inside, np.diff(flat))


def prefix_spans(lengths: np.ndarray, width: int) -> Spans:
    return Spans(len(lengths), width, lengths)


def mask_spans(mask: MaskColumn) -> Spans:
    """The ones of a mask."""
    if mask.lengths is not None:
        return prefix_spans(mask.lengths, mask.width)
    assert mask.offsets is not None
    assert mask.bounds is not None
    sums = np.concatenate(([0], np.cumsum(mask.bounds[:, 1] - mask.bounds[:, 0], dtype=np.int64)))
    counts = (sums[mask.offsets[1:]] - sums[mask.offsets[:-1]]).astype(np.int32)
    return Spans(mask.rows, mask.width, counts, mask.offsets, mask.bounds)


def spans_of(scope: str, layout: Layout, field_name: str, response_lengths: np.ndarray | None = None) -> Spans:
    """The tokens that `scope` means in `layout`. Raises INVALID_INPUT when the scope is `mask` and the layout has none."""
    if scope == "response":
        known = response_lengths if response_lengths is not None else layout.lengths
        return prefix_spans(
            np.full(layout.rows, layout.width, dtype=np.int32) if known is None else known, layout.width
        )
    if layout.mask is None:
        raise error(
            "INVALID_INPUT",
            f'Field "{field_name}" counts only where response_mask is 1, and no response_mask is known; '
            "send response_mask with it.",
            {"field": field_name},
        )
    # The mask may come from an earlier put with another padding.
    return mask_spans(layout.mask.widened(max(layout.width, layout.mask.width)))

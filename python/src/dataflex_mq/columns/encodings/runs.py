"""`runs`: a 0/1 matrix as how many runs of ones each row has, and each run's start and stop."""

from __future__ import annotations

import numpy as np

from ..tensor import MaskColumn
from .part import DecodeInput, Parts, by_offsets, i32, malformed, offsets_of


def encode_runs(mask: MaskColumn) -> Parts:
    assert mask.offsets is not None
    assert mask.bounds is not None
    return [("counts", i32(np.diff(mask.offsets))), ("bounds", i32(mask.bounds))]


def decode_runs(read: DecodeInput) -> MaskColumn:
    """Runs ascend with a zero between two of them at least, so that a mask has one form only."""
    offsets = offsets_of(read.name, read.per_row("counts", read.width))
    bounds = read.read_i32("bounds", 2 * int(offsets[-1])).reshape(-1, 2)
    start, stop = bounds[:, 0], bounds[:, 1]
    before = np.concatenate((np.full(min(len(stop), 1), -1), stop[:-1].astype(np.int64)))
    before[offsets[:-1][np.diff(offsets) > 0]] = -1
    wrong = np.flatnonzero((start <= before) | (start >= stop) | (stop > read.width))
    if len(wrong) > 0:
        at = int(wrong[0])
        row = by_offsets(offsets)(at)["row"]
        where = f"after {int(before[at])} and within [0, {read.width}]"
        malformed(read.name, f"the run [{start[at]}, {stop[at]}) in row {row} is not a range {where}", {"row": row})
    return MaskColumn(read.dtype, read.rows, read.width, None, offsets, bounds)

"""The mask of some rows, out of masks of other row sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .mask import mask_column, runs_of
from .row_ranges import rows_in
from .tensor import MaskColumn


def gather_mask(pieces: Sequence[tuple[MaskColumn, Sequence[int]]], ranges: Sequence[int]) -> MaskColumn | None:
    """
    The mask of the rows `ranges` from `pieces` (mask, its row ranges); None when one of the rows is in none. Of several masks of one row
    the last counts. The width is the largest of the pieces'.
    """
    for mask, own in pieces:
        if list(own) == list(ranges):
            return mask
    wanted = rows_in(ranges)
    if len(pieces) == 0 or len(wanted) == 0:
        return None
    rows = np.concatenate([rows_in(own) for _, own in pieces])
    runs = [runs_of(mask) for mask, _ in pieces]
    counts = np.concatenate([np.diff(offsets) for offsets, _ in runs])
    bounds = np.concatenate([bounds for _, bounds in runs])
    # The position of each wanted row among all pieces' rows; the last piece wins.
    place = np.full(max(int(rows.max(initial=-1)), int(wanted.max())) + 1, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    found = place[wanted]
    if (found < 0).any():
        return None
    starts = np.concatenate(([0], np.cumsum(counts)))[found]
    taken = counts[found]
    offsets = np.concatenate(([0], np.cumsum(taken)))
    picked = np.repeat(starts - offsets[:-1], taken) + np.arange(offsets[-1])
    width = max(mask.width for mask, _ in pieces)
    return mask_column(pieces[0][0].dtype, width, offsets, bounds[picked])

"""One number a row as the number a token that it stands for."""

from __future__ import annotations

import numpy as np

from .device import DeviceTensor, to_numpy
from .spans import mask_spans
from .tensor import Layout, Tensor


def spread_rows(value: Tensor | DeviceTensor, at: str, layout: Layout) -> Tensor | None:
    """
    At `each` counted token, or at the `last` one (the response's last where no mask is known), 0 elsewhere. None where the layout does not
    say which tokens these are.
    """
    numbers = value.data if isinstance(value, Tensor) else to_numpy(value.data)
    width = layout.width if layout.mask is None else max(layout.width, layout.mask.width)
    out = np.zeros((layout.rows, width), dtype=numbers.dtype)
    if layout.mask is not None and at == "each":
        inside = mask_spans(layout.mask).inside(0, layout.rows)
        out[:, : inside.shape[1]][inside] = np.repeat(numbers, inside.sum(axis=1))
        return Tensor(value.dtype, out)
    if layout.mask is not None:
        ends = mask_spans(layout.mask).ends()
    elif at == "last" and layout.lengths is not None:
        ends = layout.lengths.astype(np.int64)
    else:
        return None
    rows = np.flatnonzero(ends > 0)
    out[rows, ends[rows] - 1] = numbers[rows]
    return Tensor(value.dtype, out)

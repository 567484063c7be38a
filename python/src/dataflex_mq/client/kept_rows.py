"""The rows that weigh in the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..sentences import error_of
from .compose import Composed, RowWeights


def kept_rows(composed: Composed) -> np.ndarray:
    """int64 (k,): rows of which any token weighs, ascending."""
    weights = composed.weights
    if isinstance(weights, RowWeights):
        weighs = weights.values != 0
    else:
        nonzero = np.concatenate(([0], np.cumsum(weights.values != 0)))[weights.offsets]
        weighs = np.diff(nonzero) > 0
    return np.flatnonzero(weighs & (composed.counts > 0))


def keep_rows(fields: Mapping[str, Any], kept: np.ndarray, rows: int) -> dict[str, Any]:
    """The fields cut to these rows. Raises INVALID_INPUT naming a field that does not have `rows` entries."""
    for name, value in fields.items():
        if len(value) != rows:
            raise error_of("INVALID_INPUT.keep", field=name, length=len(value), rows=rows)
    return {name: _pick(value, kept) for name, value in fields.items()}


def _pick(value: Any, kept: np.ndarray) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([value[row] for row in kept])
    if isinstance(value, np.ndarray):
        return value[kept]
    # A torch tensor, on whatever device; a nested one by its rows.
    import torch

    if getattr(value, "is_nested", False):
        parts = value.unbind()
        return torch.nested.as_nested_tensor([parts[row] for row in kept], layout=value.layout)
    return value[torch.from_numpy(kept).to(value.device)]

"""
The composition of a step's weights, once per step, on the trainer's side. In this order: (1) product of the delivered pipelines; (2)
re-mask with the mask that the loss will read; (3) clip, only where > 0; (4) rescale over live rows or tokens; (5) times existing
`rollout_is_weights`, never renormalised. Steps 1-3 and 5 are products, so a weight 0 stays 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.mask import same_mask
from ..columns.spans import mask_spans
from ..columns.tensor import MaskColumn
from ..errors import DataflexError, error


@dataclass(frozen=True, slots=True)
class RowWeights:
    """float32 (rows,)"""

    values: np.ndarray


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """float32 over the live tokens of a mask, row after row; `offsets` (rows + 1) says which belong to which row."""

    offsets: np.ndarray
    values: np.ndarray


Weights = RowWeights | TokenWeights


@dataclass(frozen=True, slots=True)
class Composed:
    """
    The composition of a step over the mask `loss`. `counts` (rows,): live tokens of each row, 0 for padding. `clipped`: elements that the
    clip raised to its lower bound and lowered to its upper one. `product`, `product_counts`: the pipelines' product (step 1), over the mask
    that scoring read.
    """

    weights: Weights
    loss: MaskColumn
    counts: np.ndarray
    clipped: tuple[int, int]
    product: Weights
    product_counts: np.ndarray


def live_counts(mask: MaskColumn) -> np.ndarray:
    """Live tokens of each row, int64 (rows,)."""
    return mask_spans(mask).counts.astype(np.int64)


def product(weights: Sequence[Weights], counts: np.ndarray) -> Weights:
    """Step 1. Row weights multiply every token of their row. All token weights lie over the same mask."""
    row = np.ones(len(counts), dtype=np.float64)
    token: np.ndarray | None = None
    offsets = np.concatenate(([0], np.cumsum(counts)))
    for one in weights:
        if isinstance(one, RowWeights):
            row *= one.values
        elif token is None:
            token, offsets = one.values.astype(np.float64), one.offsets
        else:
            token *= one.values
    if token is None:
        return RowWeights(_float32(row))
    return TokenWeights(offsets, _float32(token * np.repeat(row, np.diff(offsets))))


def remask(weights: Weights, scored: MaskColumn, loss: MaskColumn, padding: np.ndarray | None = None) -> Weights:
    """
    Step 2: from the mask that scoring read to the one that the loss reads. Raises INVALID_INPUT when the loss has a live token that was
    never scored, naming row and column: its weight is unknown, not 0. `padding` rows (rows,) weigh 0.
    """
    if scored.rows != loss.rows:
        message = f"the loss's mask has {loss.rows} rows, the weights {scored.rows}"
        raise error("INVALID_INPUT", message, {"rows": loss.rows, "expected": scored.rows})
    real = np.ones(loss.rows, dtype=bool) if padding is None else ~padding
    if isinstance(weights, RowWeights):
        unknown = np.flatnonzero((live_counts(loss) > 0) & (live_counts(scored) == 0) & real)
        if len(unknown) > 0:
            row = int(unknown[0])
            raise _unscored(row, int(mask_spans(loss).firsts()[row]))
        return weights
    if same_mask(scored, loss) and real.all():
        return weights
    width = max(scored.width, loss.width)
    before = mask_spans(scored.widened(width)).inside(0, scored.rows)
    after = mask_spans(loss.widened(width)).inside(0, loss.rows)
    places = np.argwhere(after & ~before & real[:, None])
    if len(places) > 0:
        raise _unscored(int(places[0, 0]), int(places[0, 1]))
    full = np.zeros((loss.rows, width), dtype=np.float32)
    full[before] = weights.values
    full[~real] = 0
    return TokenWeights(np.concatenate(([0], np.cumsum(live_counts(loss)))), full[after])


def _unscored(row: int, column: int) -> DataflexError:
    return error(
        "INVALID_INPUT",
        f"row {row}, column {column}: the loss's mask has a token here that was masked when the weights were computed. "
        "Send the mask that the loss reads",
        {"row": row, "column": column},
    )


def clip(weights: Weights, bounds: Sequence[float] | None) -> tuple[Weights, tuple[int, int]]:
    """Step 3, and how many elements it raised and lowered. A dropped sample stays dropped: 0 is never raised to the lower bound."""
    if bounds is None:
        return weights, (0, 0)
    values = weights.values.astype(np.float64)
    low, high = bounds
    raised, lowered = (values > 0) & (values < low), values > high
    clipped = _with(weights, np.where(raised, low, np.where(lowered, high, values)))
    return clipped, (int(np.count_nonzero(raised)), int(np.count_nonzero(lowered)))


def rescale(weights: Weights, mode: str, counts: np.ndarray) -> Weights:
    """
    Step 4. `row`: the mean over live rows of each row's mean live weight becomes 1. `token`: the weights' sum over live tokens becomes
    their count. Selected-away rows are live: rescaling makes up for them. A sum of 0 is left as it is. `counts` (rows,): live tokens.
    """
    if mode == "none":
        return weights
    live = counts > 0
    if isinstance(weights, RowWeights):
        totals = weights.values.astype(np.float64) * counts
    else:
        sums = np.concatenate(([0.0], np.cumsum(weights.values, dtype=np.float64)))
        totals = sums[weights.offsets[1:]] - sums[weights.offsets[:-1]]
    if mode == "row":
        total, want = float((totals[live] / counts[live]).sum()), float(np.count_nonzero(live))
    else:
        total, want = float(totals[live].sum()), float(counts[live].sum())
    if total == 0:
        return weights
    return _with(weights, weights.values.astype(np.float64) * want / total)


def compose(
    weights: Sequence[Weights],
    scored: MaskColumn,
    loss: MaskColumn,
    composition: Mapping[str, Any],
    padding: np.ndarray | None = None,
) -> Composed:
    """
    Steps 1-4. padding (rows,): rows that weigh 0 and count in no mean: padding, and rows dropped for a value that was not finite.
    Raises what `remask` raises; NON_FINITE.
    """
    before = live_counts(scored)
    joint = product(weights, before)
    clipped, moved = clip(remask(joint, scored, loss, padding), composition.get("clip"))
    counts = _without(live_counts(loss), padding)
    composed = _finite(rescale(clipped, composition["rescale"], counts))
    return Composed(composed, loss, counts, moved, joint, _without(before, padding))


def _without(counts: np.ndarray, padding: np.ndarray | None) -> np.ndarray:
    return counts if padding is None else np.where(padding, 0, counts)


def _finite(weights: Weights) -> Weights:
    """Raises NON_FINITE: products of finite weights may lie beyond float32, and must not reach the loss."""
    wrong = np.flatnonzero(~np.isfinite(weights.values))
    if len(wrong) == 0:
        return weights
    at = int(wrong[0])
    row = at if isinstance(weights, RowWeights) else int(np.searchsorted(weights.offsets, at, side="right")) - 1
    message = (
        f"the composed weight of row {row} is {weights.values[at]}: the pipelines' weights multiply beyond float32. "
        "Set clip, or normalize them"
    )
    raise error("NON_FINITE", message, {"row": row})


def to_array(weights: Weights, mask: MaskColumn) -> np.ndarray:
    """float32, of its own memory: (rows,) for row weights, else (rows, width) with 0 outside the mask."""
    return weights.values.copy() if isinstance(weights, RowWeights) else expand(weights, mask)


def expand(weights: Weights, mask: MaskColumn) -> np.ndarray:
    """float32 (rows, width), 0 outside the mask."""
    inside = mask_spans(mask).inside(0, mask.rows)
    if isinstance(weights, RowWeights):
        return np.where(inside, weights.values[:, None], np.float32(0))
    out = np.zeros((mask.rows, mask.width), dtype=np.float32)
    out[inside] = weights.values
    return out


def _with(weights: Weights, values: np.ndarray) -> Weights:
    narrow = _float32(values)
    return RowWeights(narrow) if isinstance(weights, RowWeights) else TokenWeights(weights.offsets, narrow)


def _float32(values: np.ndarray) -> np.ndarray:
    """Values beyond float32 become infinite; the composition looks for them at its end, after the clip."""
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(np.float32)

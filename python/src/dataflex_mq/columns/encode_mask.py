"""A mask in its smallest encoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import error
from .dtypes import DTYPE_BYTES
from .encodings.dense import encode_dense
from .encodings.jagged import encode_jagged
from .encodings.lengths import encode_lengths
from .encodings.part import Parts, padded
from .encodings.runs import encode_runs
from .input_types import NumberValue
from .limits import MAX_INDEXED
from .mask import mask_of, same_mask
from .source import source_of, stored_lengths
from .spans import spans_of
from .tensor import Layout
from .token_source import TokenSource, check_holds

Encoded = tuple[dict[str, Any], Parts]


def encode_mask(field: str, value: NumberValue, layout: Layout) -> Encoded:
    """
    `lengths` when the ones are a prefix of every row, else `runs`; `dense` or `jagged` where holes are so many that these are smaller.
    Equal sizes: in the order just given.

    Raises INVALID_INPUT: an element neither 0 nor 1, or another mask than the layout's.
    """
    own = layout.mask if layout.mask_field == field else None
    mask = (own or mask_of(field, value, layout.width)).widened(layout.width)
    if own is None and layout.mask is not None and not same_mask(mask, layout.mask):
        message = f'Field "{field}" differs from the mask of the layout; build the layout from the fields that are put.'
        raise error("INVALID_INPUT", message, {"field": field})
    size = DTYPE_BYTES[mask.dtype]
    per_row = padded(4 * mask.rows)
    response = spans_of("response", layout, field)
    if layout.lengths is not None:
        check_holds(field, stored_lengths(value), response)

    def source() -> TokenSource:
        return source_of(field, value, response)

    choices: list[tuple[str, int, Callable[[], Parts]]] = []
    if mask.bounds is None:
        choices.append(("lengths", per_row, lambda: encode_lengths(mask)))
    else:
        choices.append(("runs", per_row + padded(4 * mask.bounds.size), lambda: encode_runs(mask)))
    choices.append(("dense", padded(mask.rows * mask.width * size), lambda: encode_dense(source())))
    if layout.lengths is not None and response.total <= MAX_INDEXED:
        choices.append(("jagged", per_row + padded(response.total * size), lambda: encode_jagged(source())))
    enc, _, parts = min(choices, key=lambda choice: choice[1])
    shape = [mask.rows, mask.width]
    return {"enc": enc, "dtype": mask.dtype, "shape": shape, "scope": "response"}, parts()

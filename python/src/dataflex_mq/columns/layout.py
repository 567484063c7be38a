"""Where the tokens of one put lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ..errors import error
from .input_types import FieldValue, is_matrix, is_ragged, is_vector
from .mask import mask_of
from .spans import mask_spans
from .tensor import Features, Layout, MaskColumn, Strings


def layout_of(fields: Mapping[str, FieldValue], rows: int, lengths: np.ndarray | None = None) -> Layout:
    """
    The layout of fields that have `rows` rows each. Its mask is the field `response_mask` (`mask` in results); its response lengths are
    `lengths` (rows,), else those of the ragged fields, else unknown; its width is the widest field's. Where both are given, `lengths`
    count, and a ragged field's further tokens are padding.

    Raises INVALID_INPUT: fields of different widths or lengths, a mask element neither 0 nor 1, a 1 behind a response's end; each with
    field and row.
    """
    width = _width(fields, lengths)
    known = _ragged_lengths(fields) if lengths is None else lengths
    mask_field = next((name for name in ("response_mask", "mask") if name in fields), None)
    mask = None if mask_field is None else _mask(mask_field, fields[mask_field], width)
    if mask is not None and known is not None:
        ends = mask_spans(mask).ends()
        behind = np.flatnonzero(ends > known)
        if len(behind) > 0:
            row = int(behind[0])
            column = int(ends[row]) - 1
            message = (
                f"The mask is 1 in row {row}, column {column}, behind the response's {known[row]} tokens; fix either."
            )
            _invalid(message, {"row": row, "column": column})
    return Layout(rows, width, mask, known, mask_field)


def _width(fields: Mapping[str, FieldValue], lengths: np.ndarray | None) -> int:
    """A tensor's width is exact; a ragged field's is the smallest that fits its rows."""
    exact: tuple[str, int] | None = None
    least = ("lengths", 0 if lengths is None or len(lengths) == 0 else int(lengths.max()))
    padded = 0
    for name, value in fields.items():
        if is_ragged(value):
            longest = int(value.lengths.max()) if value.rows > 0 else 0
            padded = max(padded, value.width)
            if longest > least[1]:
                least = (name, longest)
        if not is_matrix(value):
            continue
        width = int(value.data.shape[1])
        if exact is not None and exact[1] != width:
            message = f'Fields "{exact[0]}" and "{name}" are {exact[1]} and {width} wide; pad them alike.'
            _invalid(message, {"field": name})
        exact = exact or (name, width)
    if exact is None:
        return max(least[1], padded)
    if least[1] > exact[1]:
        _invalid(
            f'"{least[0]}" has {least[1]} tokens in a row, field "{exact[0]}" is {exact[1]} wide; pad it further.',
            {"field": least[0]},
        )
    return exact[1]


def _ragged_lengths(fields: Mapping[str, FieldValue]) -> np.ndarray | None:
    first: tuple[str, np.ndarray] | None = None
    for name, value in fields.items():
        if not is_ragged(value):
            continue
        lengths: np.ndarray = value.lengths
        first = first or (name, lengths)
        differs = np.flatnonzero(first[1] != lengths)
        if len(differs) > 0:
            row = int(differs[0])
            message = (
                f'Row {row} has {first[1][row]} tokens in "{first[0]}" and {lengths[row]} in "{name}"; '
                "send the response tokens, or lengths."
            )
            _invalid(message, {"field": name, "row": row})
    return None if first is None else first[1]


def _mask(name: str, value: FieldValue, width: int) -> MaskColumn:
    if isinstance(value, (Strings, Features)) or is_vector(value):
        _invalid(f'Field "{name}" has no token dimension; a mask is (rows, width) or ragged.', {"field": name})
    return mask_of(name, value, width)


def _invalid(message: str, details: dict[str, Any]) -> NoReturn:
    raise error("INVALID_INPUT", message, details)

"""Where the tokens of one put lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ..errors import error
from .field_names import is_mask_field
from .input_types import FieldValue, is_matrix, is_ragged, is_vector
from .mask import mask_of
from .spans import mask_spans
from .tensor import Column, Layout, MaskColumn, Strings, TokenColumn


def layout_of(fields: Mapping[str, FieldValue], rows: int, lengths: np.ndarray | None = None) -> Layout:
    """
    Its mask is the field `response_mask` (`mask` in results); its response lengths are `lengths` (rows,), else those of the ragged fields,
    else unknown; its width is the widest field's. `lengths` win over those of ragged fields, whose further tokens are padding then.

    Raises INVALID_INPUT: a field with another number of rows, fields of different widths or lengths, a mask element neither 0 nor 1, a 1
    behind a response's end; each with field and row.
    """
    for name, value in fields.items():
        if value.rows != rows:
            _invalid(
                f'Field "{name}" has {value.rows} rows, the put has {rows}; send one entry a row.', {"field": name}
            )
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


def layout_of_columns(columns: Mapping[str, Column], rows: int) -> Layout:
    """The layout a reader works with, from the decoded columns of a stage. Raises DECODE when columns disagree."""
    width, lengths, mask = 0, None, None
    for name, column in columns.items():
        if column.rows != rows:
            raise error("DECODE", f'Column "{name}" has {column.rows} rows, expected {rows}.', {"field": name})
        if not isinstance(column, (TokenColumn, MaskColumn)):
            continue
        width = max(width, column.width)
        if isinstance(column, MaskColumn):
            mask = column if mask is None and is_mask_field(name) else mask
        elif column.response_lengths is not None:
            if lengths is not None and not np.array_equal(lengths, column.response_lengths):
                raise error("DECODE", f'Column "{name}" disagrees with others about response lengths.', {"field": name})
            lengths = column.response_lengths
    return Layout(rows, width, None if mask is None else mask.widened(width), lengths)


def _width(fields: Mapping[str, FieldValue], lengths: np.ndarray | None) -> int:
    """A tensor's width is exact, a ragged field's is the least that holds it."""
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
    if isinstance(value, Strings) or is_vector(value):
        _invalid(f'Field "{name}" has no token dimension; a mask is (rows, width) or ragged.', {"field": name})
    return mask_of(name, value, width)


def _invalid(message: str, details: dict[str, Any]) -> NoReturn:
    raise error("INVALID_INPUT", message, details)

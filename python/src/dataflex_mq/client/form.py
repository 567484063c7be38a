"""What the fields of a put must be like, once their values are known: checked here and nowhere after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..columns.field_names import STRING_FIELDS
from ..columns.input import flat_array
from ..columns.input_types import FieldValue, is_string, is_vector
from ..errors import error


def check_values(values: Mapping[str, FieldValue], scopes: Mapping[str, str | None], rows: int) -> None:
    """
    scopes: of each field's need, None for columns of one value a row. rows: of this put. Raises INVALID_INPUT naming the field: strings or
    numbers where the service reads the other, another number of rows.
    """
    for name, value in values.items():
        _check_form(name, value, scopes.get(name))
        if value.rows != rows:
            message = f'field "{name}" has {value.rows} rows, this put is for {rows}'
            raise error("INVALID_INPUT", message, {"field": name, "rows": value.rows, "expected": rows})


def check_flags(given: Sequence[bool] | np.ndarray) -> np.ndarray:
    """`is_padding` as bool (rows,). Raises INVALID_INPUT."""
    flags = flat_array("is_padding", given)
    if flags.ndim != 1 or (flags.size > 0 and flags.dtype.kind not in "biu"):
        raise error(
            "INVALID_INPUT", f"is_padding has the shape {flags.shape} and dtype {flags.dtype}; send one bool a row"
        )
    return flags.astype(bool)


def _check_form(name: str, value: FieldValue, scope: str | None) -> None:
    if name in STRING_FIELDS and not is_string(value):
        raise error(
            "INVALID_INPUT", f'field "{name}" holds numbers; it is a column of one string a row', {"field": name}
        )
    if scope is not None and (is_string(value) or is_vector(value)):
        message = (
            f'field "{name}" has one {"string" if is_string(value) else "number"} a row; it is read token by token: send (rows, L), or '
            "ragged rows (an outcome stands on the response's last token, a value of the whole row on each of its tokens)"
        )
        raise error("INVALID_INPUT", message, {"field": name})

"""What the fields of a put must be like, once their values are known: checked here and nowhere after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..columns.field_kinds import SPREAD_FIELDS, kind_of
from ..columns.input import flat_array
from ..columns.input_types import FieldValue, is_string, is_vector
from ..columns.tensor import Features
from ..errors import error


def check_values(values: Mapping[str, FieldValue], needs: Mapping[str, Mapping[str, Any]], rows: int) -> None:
    """
    needs: by field; columns that ride along have none. rows: of this put. Raises INVALID_INPUT naming the field: strings or numbers where
    the service reads the other, tokens or rows likewise, another number of rows.
    """
    for name, value in values.items():
        problem = _kind_problem(name, kind_of(needs.get(name, {"name": name})), value)
        if problem is not None:
            raise error("INVALID_INPUT", f'field "{name}" {problem}', {"field": name})
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


def _kind_problem(name: str, kind: str, value: FieldValue) -> str | None:
    """Scoring would find out too, but only when it is too late for the step."""
    strings = is_string(value)
    features = isinstance(value, Features)
    if kind == "features":
        return None if features else "is read as features: send (rows, d)"
    if kind == "strings":
        return None if strings else "holds numbers; it is a column of one string per row"
    if kind == "row":
        if not strings and is_vector(value):
            return None
        return (
            f"holds {'strings' if strings else 'one number per token'}; it is read as one number per row: send (rows,)"
        )
    if kind == "tokens":
        if not strings and not features and (not is_vector(value) or name in SPREAD_FIELDS):
            return None
        return (
            f"has one {'string' if strings else 'number'} per row; it is read token by token: send (rows, L), or "
            "ragged rows (an outcome on the response's last token, a value of the whole row on each of its tokens)"
        )
    other = "strings" if strings else "features" if features else None
    return f"holds {other}; it is read as numbers, one per row or one per token" if other else None

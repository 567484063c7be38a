"""Whether a field comes in the form in which the service reads it."""

from __future__ import annotations

from ..columns.field_names import STRING_FIELDS
from ..columns.input_types import FieldValue, is_string, is_vector
from ..errors import error


def check_form(name: str, value: FieldValue, scope: str | None) -> None:
    """scope: of the field's need, None for columns of one value a row. Raises INVALID_INPUT: strings or numbers where the other is read."""
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

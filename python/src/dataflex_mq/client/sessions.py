"""`session` and `session_index`, which ride along with a put: wherever the stage wants `uid`, with the put that brings it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..columns.field_names import SESSION_COLUMNS
from ..columns.input import to_field_value
from ..columns.input_types import FieldValue, is_string, is_vector
from ..columns.tensor import Strings, Tensor
from ..sentences import error_of
from .as_wanted import as_wanted


def riding_sessions(given: Mapping[str, Any], wanted: Sequence[str]) -> dict[str, FieldValue]:
    """
    given: what the trainer handed over. wanted: fields of the stage. Raises INVALID_INPUT: an index without a session, either without
    `uid`, a value that is no index.
    """
    names = [name for name in SESSION_COLUMNS if given.get(name) is not None]
    if not names or "uid" not in wanted:
        return {}
    if "session" not in names:
        raise error_of("INVALID_INPUT.index_alone")
    if "uid" not in given:
        raise error_of("INVALID_INPUT.session_alone")
    values: dict[str, FieldValue] = {"session": as_wanted({"name": "session"}, given["session"])}
    if "session_index" in names:
        values["session_index"] = _index(to_field_value("session_index", given["session_index"]))
    return values


def check_index(values: Mapping[str, FieldValue], is_padding: np.ndarray | None) -> None:
    """Raises INVALID_INPUT for two rows of one session with the same index; padding rows do not count."""
    uid, session, index = (values.get(name) for name in ("uid", *SESSION_COLUMNS))
    if not isinstance(uid, Strings) or not isinstance(session, Strings) or not isinstance(index, Tensor):
        return
    seen: dict[tuple[str, str, int], int] = {}
    for row, key in enumerate(zip(uid.values, session.values, index.data.tolist(), strict=True)):
        if is_padding is not None and is_padding[row]:
            continue
        first = seen.setdefault(key, row)
        if first != row:
            raise error_of("INVALID_INPUT.index_twice", first=first, row=row, uid=key[0], session=key[1], index=key[2])


def _index(value: FieldValue) -> Tensor:
    if is_string(value) or not is_vector(value) or value.dtype in ("bool", "f16", "bf16"):
        raise error_of("INVALID_INPUT.index_value", row=0)
    data = value.data if isinstance(value.data, np.ndarray) else value.data.cpu().numpy()
    wrong = np.flatnonzero((data != np.floor(data)) | ~(data >= 0) | (data > 0x7FFFFFFF))
    if len(wrong) > 0:
        raise error_of("INVALID_INPUT.index_value", row=int(wrong[0]))
    return Tensor("i32", data.astype(np.int32))

"""Which rows of the step a put is for, and in which order its input has them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.field_names import LAYOUT_COLUMNS
from ..columns.input_types import FieldValue
from ..columns.row_ranges import ranges_of
from ..errors import error
from ..protocol.codec import pack
from ..sentences import error_of
from .guard import whole_number

# The row table is sent and kept as one value: far above any real one, far below what would stall the server.
MAX_KEYS_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class RowPlan:
    """`order`: for each row of the ranges, the index of its input row; None: the input is in order already."""

    ranges: list[int]
    order: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of a step's rows as its first put named them, and their digest."""

    keys: list[str]
    digest: str
    blob: bytes


def key_table(keys: Sequence[str]) -> KeyTable:
    """Raises LIMIT."""
    blob = pack(list(keys))
    if len(blob) > MAX_KEYS_BYTES:
        message = f"the row keys take {len(blob)} bytes, above the limit of {MAX_KEYS_BYTES}: use shorter keys, or put by row ranges"
        raise error("LIMIT", message, {"bytes": len(blob)})
    return KeyTable(list(keys), hashlib.sha256(blob).hexdigest()[:32], blob)


def plan_range(rows: tuple[int, int] | None, total: int) -> RowPlan:
    """`rows`: half-open; None: all. Raises INVALID_INPUT."""
    if rows is None:
        return RowPlan([0, total] if total > 0 else [])
    start, stop = rows
    if not 0 <= start < stop <= total:
        raise error(
            "INVALID_INPUT",
            f"rows [{start}, {stop}) is not a range within the {total} rows of this step",
            {"rows": [start, stop], "total": total},
        )
    return RowPlan([start, stop])


def plan_keys(keys: Sequence[str], table: Sequence[str]) -> RowPlan:
    """Keys → row numbers by the step's row table; the input is put in ascending row order. Raises ROWS_CONFLICT."""
    row_of = {key: row for row, key in enumerate(table)}
    unknown = [key for key in keys if key not in row_of]
    if unknown:
        details = {"unknown": unknown[:10]}
        raise error_of("ROWS_CONFLICT.unknown_keys", details, count=len(unknown), first=unknown[0])
    rows = np.array([row_of[key] for key in keys], dtype=np.int64)
    order = np.argsort(rows, kind="stable")
    in_order = bool((order == np.arange(len(order))).all())
    return RowPlan(ranges_of(rows[order]), None if in_order else order)


def check_keys(given: Any) -> list[str]:
    """Keys as strings. Raises INVALID_INPUT for a key that is not a string, or is there twice."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise error("INVALID_INPUT", f"keys is a {type(given).__name__}; send a list of strings, one a row")
    keys = given.tolist() if isinstance(given, np.ndarray) else list(given)
    seen: set[str] = set()
    for row, key in enumerate(keys):
        if not isinstance(key, str):
            raise error("INVALID_INPUT", f"the key of row {row} is a {type(key).__name__}, not a string", {"row": row})
        if key in seen:
            raise error("INVALID_INPUT", f'key "{key}" occurs twice in this put (row {row})', {"key": key, "row": row})
        seen.add(key)
    return keys


def check_rows(given: Any) -> tuple[int, int] | None:
    """`(start, stop)`, a `range` or a `slice` of consecutive rows. Raises INVALID_INPUT."""
    if given is None:
        return None
    if isinstance(given, (range, slice)):
        if given.step not in (None, 1) or given.start is None or given.stop is None:
            raise error("INVALID_INPUT", f"rows is {given!r}; name a start and a stop, consecutive")
        return whole_number(given.start, "rows' start"), whole_number(given.stop, "rows' stop")
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise error("INVALID_INPUT", f"rows is {given!r}; it is (start, stop), half-open")
    return whole_number(given[0], "rows' start"), whole_number(given[1], "rows' stop")


def row_count(fields: Mapping[str, FieldValue]) -> int:
    """Rows of the first field that is not a layout column; `check_values` makes sure that the others agree."""
    return next((value.rows for name, value in fields.items() if name not in LAYOUT_COLUMNS), 0)

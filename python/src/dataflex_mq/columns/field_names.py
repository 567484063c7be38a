"""Valid field names, and the fields with a meaning of their own."""

from __future__ import annotations

import re

from ..errors import error

_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,95}")

# Property names of every JavaScript object: the service's lookups by name must not find a method.
_RESERVED = frozenset(
    (
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "__proto__",
    )
)

# Fields that hold one string per row.
STRING_FIELDS = ("uid", "domain", "session", "dataset_key")

# Columns that say where tokens are instead of carrying a signal: any put may contain them, and no scorer asks for them.
LAYOUT_COLUMNS = ("lengths", "is_padding")

# Which session of its group a row is of, and its place there: they ride along with `uid` wherever a trainer has them.
SESSION_COLUMNS = ("session", "session_index")


def is_mask_field(name: str) -> bool:
    """Columns that say which tokens count: `response_mask` in puts, `mask` in results. Their elements are 0 or 1."""
    return name in ("response_mask", "mask")


def is_field_name(name: object) -> bool:
    return isinstance(name, str) and _PATTERN.fullmatch(name) is not None and name not in _RESERVED


def validate_field_name(name: object) -> None:
    """Raises INVALID_INPUT naming the field."""
    if is_field_name(name):
        return
    why = (
        "is a property of every JavaScript object and cannot name a field"
        if isinstance(name, str) and name in _RESERVED
        else "is not a field name (a letter or _, then letters, digits, _ . -, at most 96 characters)"
    )
    raise error("INVALID_INPUT", f"Field {name!r} {why}; rename it.", {"field": str(name)})

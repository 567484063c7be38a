"""
Refuses what the protocol's subset of msgpack leaves out. Declared lengths are checked by the reader itself before anything of that size
is allocated; keys while maps are built; nesting and integers in the value afterwards.
"""

from __future__ import annotations

from typing import Any

import msgpack

from ..errors import error
from .message_limits import MESSAGE_MAX_DEPTH, MESSAGE_MAX_STRING_BYTES

_MAX_INTEGER = 2**53


class _RefusedError(Exception):
    pass


def unpack_raw(data: bytes) -> Any:
    """One message, without extension types and without keys that are not strings or are there twice. Raises DECODE."""
    if len(data) == 0:
        raise _decode("it is empty")
    try:
        return msgpack.unpackb(
            data,
            raw=False,
            strict_map_key=False,
            object_pairs_hook=_pairs,
            ext_hook=_extension,
            max_str_len=MESSAGE_MAX_STRING_BYTES,
        )
    except msgpack.ExtraData as cause:
        raise _decode(f"{len(cause.extra)} bytes follow the message") from cause
    except _RefusedError as cause:
        raise _decode(str(cause)) from cause
    except (ValueError, UnicodeError, RecursionError, TypeError) as cause:
        raise _decode(str(cause) or type(cause).__name__) from cause


def _pairs(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    built: dict[str, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str):
            raise _RefusedError("a map has a key that is not a string")
        if key == "__proto__":
            raise _RefusedError('a map has the key "__proto__"')
        if key in built:
            raise _RefusedError(f"a map has the key {key!r} twice")
        built[key] = value
    return built


def _extension(code: int, _data: bytes) -> Any:
    raise _RefusedError(f"it holds the extension type {code}")


def scan_message(value: Any, depth: int = 1) -> None:
    """Raises DECODE for nesting beyond 16, integers beyond ±2^53 and timestamps."""
    if depth > MESSAGE_MAX_DEPTH:
        raise _decode(f"it is nested deeper than {MESSAGE_MAX_DEPTH}")
    if isinstance(value, dict):
        for member in value.values():
            scan_message(member, depth + 1)
    elif isinstance(value, list):
        for member in value:
            scan_message(member, depth + 1)
    elif isinstance(value, int):
        if abs(value) > _MAX_INTEGER:
            raise _decode(f"the integer {value} lies beyond ±2^53")
    elif not (value is None or isinstance(value, (float, str, bytes))):
        raise _decode(f"it holds a {type(value).__name__}")


def _decode(why: str) -> Exception:
    return error("DECODE", f"Cannot read the message: {why}.")

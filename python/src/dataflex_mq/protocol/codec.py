"""Control messages: the msgpack subset of docs/protocol.md section 1. Plain data in, plain data out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgpack
import numpy as np

from ..errors import error
from .message_limits import MESSAGE_MAX_BYTES, MESSAGE_MAX_DEPTH
from .scan import scan_message, unpack_raw

_MAX_INTEGER = 2**53


def pack(value: Any) -> bytes:
    """
    A message as standard msgpack. Takes None, bool, int within ±2^53, float, str, bytes, lists and tuples, mappings with string keys, and
    NumPy scalars as the plain values that they are; configuration containers that act as mappings and sequences count as such.

    Raises INVALID_INPUT with the key path for anything else (arrays, sets, objects …), and for nesting beyond 16.
    """
    return msgpack.packb(plain(value), use_bin_type=True)


def unpack(data: bytes) -> Any:
    """Reads one message; arrays come as lists. Raises DECODE."""
    if len(data) > MESSAGE_MAX_BYTES:
        raise error("DECODE", f"Cannot read the message: it has {len(data)} bytes, the limit is {MESSAGE_MAX_BYTES}.")
    value = unpack_raw(data)
    scan_message(value)
    return value


def plain(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    """The value as built-in types only."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        if abs(value) > _MAX_INTEGER:
            _refuse(path, f"the integer {value}, which lies beyond ±2^53; send a float or a string")
        return int(value)
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if len(path) >= MESSAGE_MAX_DEPTH - 1 and isinstance(value, (Mapping, Sequence)):
        _refuse(path, f"nested deeper than {MESSAGE_MAX_DEPTH} (a cycle?)")
    if isinstance(value, Mapping):
        return {_key(key, path): plain(member, (*path, str(key))) for key, member in value.items()}
    if isinstance(value, Sequence):
        return [plain(member, (*path, i)) for i, member in enumerate(value)]
    hint = "; tensors travel as columns, not in messages" if hasattr(value, "dtype") else ""
    return _refuse(path, f"a {type(value).__name__}{hint}")


def _text(value: str, path: tuple[str | int, ...]) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        _refuse(path, "a string with half a surrogate pair, which UTF-8 cannot hold")
    # A subclass (such as a member of an enumeration) becomes a plain string.
    return str.__str__(value)


def _key(key: Any, path: tuple[str | int, ...]) -> str:
    if not isinstance(key, str):
        _refuse(path, f"a key {key!r}, which is no string")
    if key == "__proto__":
        _refuse(path, 'a key "__proto__"')
    return _text(key, path)


def _refuse(path: tuple[str | int, ...], what: str) -> Any:
    where = f'"{".".join(map(str, path))}"' if path else "The message"
    raise error("INVALID_INPUT", f"{where} is or holds {what}; a message takes plain data only.", {"path": list(path)})

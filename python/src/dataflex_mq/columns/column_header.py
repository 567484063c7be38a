"""Checks column headers that came over the wire, before any byte of the body is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .dtypes import is_dtype
from .encodings.part import ALIGNMENT, DecodeInput, malformed
from .field_names import is_field_name, is_mask_field
from .limits import Limits
from .tensor import ENCODINGS, SCOPES

# Which parts an encoding has, in body order; required, optional. The optional `lengths` of scope `response` comes first.
_PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "dense": (("values",), ("lengths",)),
    "jagged": (("lengths", "values"), ()),
    "row": (("values",), ("lengths",)),
    "last": (("values",), ("lengths",)),
    "sparse": (("counts", "index", "values"), ("lengths",)),
    "lengths": (("lengths",), ()),
    "runs": (("counts", "bounds"), ()),
    "strings": (("sizes", "table", "index"), ()),
}
_MAX_SIZE = 2**53 - 1


def check_header(raw: Any, part: Callable[[str], np.ndarray], limits: Limits) -> DecodeInput:
    """Checks one header, field by field. Raises DECODE naming the column and what is wrong."""
    if not isinstance(raw, dict):
        malformed("?", "its header is no map")
    if not is_field_name(raw.get("name")):
        malformed(str(raw.get("name")), "its name is not a field name")
    name = str(raw["name"])
    enc = raw.get("enc")
    if enc not in ENCODINGS:
        malformed(name, f"the encoding {_shown(enc)} is unknown")
    strings = enc == "strings"
    dtype = raw.get("dtype")
    if (dtype is not None) if strings else not is_dtype(dtype):
        malformed(name, f"the dtype {_shown(dtype)} is {'given for strings' if strings else 'unknown'}")
    shape = raw.get("shape")
    if not isinstance(shape, list) or not 1 <= len(shape) <= 2:
        malformed(name, "its shape is not [rows] or [rows, width]")
    rows = _size(name, "rows", shape[0], limits["max_rows"])
    matrix = len(shape) == 2
    width = _size(name, "width", shape[1], limits["max_width"]) if matrix else 0
    if strings if matrix else enc not in ("strings", "dense"):
        malformed(name, f"the encoding {enc} does not fit its shape")
    scope = raw.get("scope")
    features = matrix and scope is None and enc == "dense" and not is_mask_field(name)
    if (scope not in SCOPES and not features) if matrix else scope is not None:
        malformed(name, f"the scope {_shown(scope)} is {'unknown' if matrix else 'given without tokens'}")
    distinct = _size(name, "distinct", raw.get("distinct"), rows) if strings else 0
    parts = _check_parts(name, enc, raw.get("parts"), features)
    return DecodeInput(
        name, enc, dtype or "u8", rows, width, matrix, scope or "response", distinct, limits, parts, part, features
    )


def check_headers(headers: Sequence[Any], body: np.ndarray, limits: Limits) -> list[DecodeInput]:
    """Checks all headers of a body. Raises DECODE: a part outside the body, parts that add up to more, a name given twice."""
    if not isinstance(headers, list):
        malformed("?", "the column headers are no array")
    if len(body) > limits["max_put_bytes"]:
        malformed("?", f"the body has {len(body)} bytes, the limit is {limits['max_put_bytes']}")
    checked: dict[str, DecodeInput] = {}
    spent = 0
    for raw in headers:
        header = check_header(raw, _reader(raw, body), limits)
        if header.name in checked:
            malformed(header.name, "it is there twice")
        for part, (offset, length) in header.parts.items():
            if offset + length > len(body):
                malformed(header.name, f'part "{part}" ends at {offset + length}, the body has {len(body)} bytes')
            spent += length
        # Parts that overlap would let a small body decode into a large amount of memory.
        if spent > len(body):
            malformed(header.name, "the parts add up to more bytes than the body has")
        checked[header.name] = header
    return list(checked.values())


def _reader(raw: Any, body: np.ndarray) -> Callable[[str], np.ndarray]:
    def part(name: str) -> np.ndarray:
        offset, length = raw["parts"][name]
        return body[offset : offset + length]

    return part


def _check_parts(name: str, enc: str, parts: Any, features: bool) -> dict[str, tuple[int, int]]:
    if not isinstance(parts, dict):
        malformed(name, "its parts are no map")
    required, optional = _PARTS[enc]
    for part in required:
        if part not in parts:
            malformed(name, f'part "{part}" is missing', {"part": part})
    for part, place in parts.items():
        if part not in (required if features else (*required, *optional)):
            malformed(name, f'the encoding {enc} has no part "{part}"', {"part": part})
        if not isinstance(place, list) or len(place) != 2:
            malformed(name, f'part "{part}" is not [offset, length]', {"part": part})
        offset = _size(name, f'the offset of part "{part}"', place[0], _MAX_SIZE)
        _size(name, f'the length of part "{part}"', place[1], _MAX_SIZE)
        if offset % ALIGNMENT != 0:
            malformed(name, f'part "{part}" starts at {offset}, not at a multiple of 8', {"part": part})
    return {part: (place[0], place[1]) for part, place in parts.items()}


def _size(name: str, what: str, value: Any, limit: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        malformed(name, f"{what} is {_shown(value)}, not a size")
    if value > limit:
        malformed(name, f"{what} is {value}, the limit is {limit}", {"limit": limit})
    return value


def _shown(value: Any) -> str:
    return repr(value)[:40]

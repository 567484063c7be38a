"""Fields as columns: headers, and the parts that joined are the body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import error
from .device import to_numpy
from .encode_mask import encode_mask
from .encode_matrix import encode_matrix
from .encodings.part import Parts, bytes_of, padded
from .encodings.strings import encode_strings
from .field_names import is_mask_field
from .input_types import FieldValue, is_vector
from .limits import DEFAULT_LIMITS, Limits
from .spans import Spans, spans_of
from .tensor import Features, Header, Layout, Strings
from .token_limit import tokens_in

_PADDING = np.zeros(8, dtype=np.uint8)


@dataclass(slots=True)
class EncodedColumns:
    """`parts` joined are the body, `size` bytes long; every column part starts at a multiple of 8. Parts may be views of the input."""

    columns: list[Header] = field(default_factory=list)
    parts: list[np.ndarray] = field(default_factory=list)
    size: int = 0

    def add(self, name: str, header: Mapping[str, Any], content: Parts) -> None:
        places: dict[str, list[int]] = {}
        for part, data in content:
            places[part] = [self.size, len(data)]
            padding = padded(len(data)) - len(data)
            self.parts += [data, _PADDING[:padding]]
            self.size += len(data) + padding
        distinct = {"distinct": header["distinct"]} if "distinct" in header else {}
        kept = {key: value for key, value in header.items() if key != "distinct"}
        self.columns.append({"name": name, **kept, "parts": places, **distinct})


def encode_columns(
    fields: Mapping[str, FieldValue],
    scopes: Mapping[str, str | None],
    layout: Layout,
    limits: Limits = DEFAULT_LIMITS,
) -> EncodedColumns:
    """
    Encodes fields in their smallest form, lossless over each one's scope, bit for bit; +0 outside. Never larger than `dense`.

    fields: name → value, all of `layout.rows` rows. scopes: per token matrix, `mask` where absent.

    Raises INVALID_INPUT: scope `mask` without a response_mask, fewer tokens than are in scope; LIMIT: rows, width, tokens, bytes
    or a string beyond `limits`.
    """
    _at_most("rows", layout.rows, limits["max_rows"])
    _at_most("tokens a row", layout.width, limits["max_width"])
    if layout.mask is not None:
        _at_most("tokens", tokens_in(layout.mask), limits["max_tokens"])
    spans: dict[str, Spans] = {}
    body = EncodedColumns()
    for name, value in fields.items():
        if isinstance(value, Strings):
            content, distinct = encode_strings(name, value.values, limits["max_string_bytes"])
            body.add(name, {"enc": "strings", "shape": [layout.rows], "distinct": distinct}, content)
        elif isinstance(value, Features):
            width = int(value.data.shape[1])
            _at_most("numbers a row", width, limits["max_width"])
            header = {"enc": "dense", "dtype": value.dtype, "shape": [layout.rows, width]}
            body.add(name, header, [("values", bytes_of(value.data))])
        elif is_vector(value):
            data = _vector(value)
            header = {"enc": "dense", "dtype": value.dtype, "shape": [layout.rows]}
            body.add(name, header, [("values", bytes_of(data))])
        elif is_mask_field(name):
            body.add(name, *encode_mask(name, value, layout))
        else:
            scope = scopes.get(name) or "mask"
            if scope not in spans:
                # Fields of one scope share their spans.
                spans[scope] = spans_of(scope, layout, name)
                _at_most("tokens", spans[scope].total, limits["max_tokens"])
            body.add(name, *encode_matrix(name, value, scope, spans[scope], layout))
    _at_most("bytes", body.size, limits["max_put_bytes"])
    return body


def _vector(value: Any) -> np.ndarray:
    return value.data if isinstance(value.data, np.ndarray) else to_numpy(value.data)


def _at_most(what: str, value: int, limit: int) -> None:
    if value <= limit:
        return
    message = f"The put has {value} {what}, the limit is {limit}; split the rows over several puts or raise the limit."
    raise error("LIMIT", message, {"what": what, "value": value, "limit": limit})

"""What no encoder writes is refused with one error, before anything of the declared size is allocated."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_mq.columns.decode import decode_columns
from dataflex_mq.columns.tensor import Layout
from dataflex_mq.errors import DataflexError
from helpers.densify import densify, layout_of_columns
from helpers.refused import refused_with
from helpers.vector_format import vectors

BODIES = {name: (vector["columns"], data) for name, vector, data in vectors("columns")}


def i32(*values: int) -> bytes:
    data = np.array(values, dtype="<i4").tobytes()
    return data + bytes(-len(data) % 8)


def column(enc: str, content: dict[str, bytes], **more: Any) -> tuple[dict[str, Any], bytes]:
    """A header and its body, `more` over what is right; None takes a key away."""
    places, body = {}, b""
    for name, data in content.items():
        places[name] = [len(body), len(data)]
        body += data
    header = {"name": "x", "enc": enc, "dtype": "f32", "shape": [2, 4], "scope": "mask", "parts": places, **more}
    return {key: value for key, value in header.items() if value is not None}, body


BROKEN = {
    "unknown encoding": column("zip", {"values": i32(0, 0)}),
    "unknown dtype": column("row", {"values": i32(0, 0)}, dtype="f8"),
    "unknown scope": column("row", {"values": i32(0, 0)}, scope="prompt"),
    "no scope": column("row", {"values": i32(0, 0)}, scope=None),
    "scope of a vector": column("dense", {"values": i32(0, 0)}, shape=[2]),
    "row encoding of a vector": column("row", {"values": i32(0, 0)}, shape=[2], scope=None),
    "three dimensions": column("dense", {"values": i32(0, 0)}, shape=[1, 1, 2]),
    "negative rows": column("row", {"values": i32(0, 0)}, shape=[-1, 4]),
    "true rows": column("row", {"values": i32(0, 0)}, shape=[True, 4]),
    "rows beyond the limit": column("row", {"values": i32(0, 0)}, shape=[2**40, 4]),
    "name": column("row", {"values": i32(0, 0)}, name="__proto__"),
    "missing part": column("row", {}),
    "unknown part": column("row", {"values": i32(0, 0), "more": i32(0, 0)}),
    "part too short": column("row", {"values": i32(0)[:4]}),
    "part outside": column("row", {"values": i32(0, 0)}, parts={"values": [8, 8]}),
    "part unaligned": column("row", {"values": i32(0, 0, 0)}, parts={"values": [4, 8]}),
    "lengths in scope mask": column("row", {"lengths": i32(1, 1), "values": i32(0, 0)}),
    "lengths beyond the width": column("row", {"lengths": i32(5, 1), "values": i32(0, 0)}, scope="response"),
    "negative count": column("sparse", {"counts": i32(-1, 1), "index": b"", "values": b""}),
    "index twice": column("sparse", {"counts": i32(2, 0), "index": i32(1, 1), "values": i32(1, 1)}),
    "index beyond": column("sparse", {"counts": i32(0, 2), "index": i32(1, 4), "values": i32(1, 1)}),
    "runs that touch": column(
        "runs", {"counts": i32(2, 0), "bounds": i32(0, 1, 1, 2)}, name="response_mask", scope="response"
    ),
    "empty run": column("runs", {"counts": i32(1, 0), "bounds": i32(2, 2)}, name="response_mask", scope="response"),
    "run beyond": column("runs", {"counts": i32(0, 1), "bounds": i32(2, 5)}, name="response_mask", scope="response"),
    "mask that is no mask": column("row", {"values": i32(0, 0)}, name="response_mask", scope="response"),
    "mask of 2": column(
        "dense", {"values": bytes([2, 0, 0, 0, 0, 0, 0, 0])}, dtype="u8", name="response_mask", scope="response"
    ),
    "bool of 2": column("row", {"values": b"\2\0" + bytes(6)}, dtype="bool", parts={"values": [0, 2]}),
    "i64 beyond": column("row", {"values": np.array([0, 2**53 + 1], "<i8").tobytes()}, dtype="i64"),
    "string index": column(
        "strings",
        {"sizes": i32(1)[:4] + bytes(4), "table": b"a" + bytes(7), "index": i32(0, 1)},
        dtype=None,
        scope=None,
        shape=[2],
        distinct=1,
        parts={"sizes": [0, 4], "table": [8, 1], "index": [16, 8]},
    ),
    "string twice": column(
        "strings",
        {"sizes": i32(1, 1), "table": b"aa" + bytes(6), "index": i32(0, 1)},
        dtype=None,
        scope=None,
        shape=[2],
        distinct=2,
        parts={"sizes": [0, 8], "table": [8, 2], "index": [16, 8]},
    ),
    "string not UTF-8": column(
        "strings",
        {"sizes": i32(1, 1), "table": b"a\xff" + bytes(6), "index": i32(0, 1)},
        dtype=None,
        scope=None,
        shape=[2],
        distinct=2,
        parts={"sizes": [0, 8], "table": [8, 2], "index": [16, 8]},
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_columns_are_refused(name: str) -> None:
    header, body = BROKEN[name]
    with pytest.raises(DataflexError) as caught:
        decode_columns([header], body)
    assert caught.value.code == "DECODE"


def test_columns_of_one_name_and_parts_that_overlap_are_refused() -> None:
    header, body = column("row", {"values": i32(1, 2)})
    with pytest.raises(DataflexError, match="there twice"):
        decode_columns([header, header], body)
    with pytest.raises(DataflexError, match="add up to more"):
        decode_columns([header, {**header, "name": "y"}], body)
    with pytest.raises(DataflexError, match="no array"):
        decode_columns({"x": header}, body)  # type: ignore[arg-type]
    with pytest.raises(DataflexError, match="no map"):
        decode_columns([None], body)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(BODIES)), st.data())
def test_mangled_puts_decode_or_are_refused(name: str, data: st.DataObject) -> None:
    columns, body = BODIES[name]
    columns, changed = copy.deepcopy(columns), bytearray(body)
    for _ in range(data.draw(st.integers(1, 3))):
        if changed and data.draw(st.booleans()):
            changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
        else:
            target = data.draw(st.sampled_from(columns))
            key = data.draw(st.sampled_from(sorted(target)))
            junk = st.none() | st.integers(-2, 2**33) | st.text(max_size=3) | st.lists(st.integers(-1, 40), max_size=3)
            target[key] = data.draw(junk)
    with refused_with("DECODE", "INVALID_INPUT"):
        decoded = decode_columns(columns, bytes(changed))
        rows = next(iter(decoded.values())).rows
        found = layout_of_columns(decoded, rows)
        for one in decoded.values():
            if hasattr(one, "dtype") and getattr(one, "width", 0) < 2**16:
                densify(one, Layout(rows, found.width, found.mask, found.lengths))

from __future__ import annotations

import enum
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflex_mq.errors import DataflexError
from dataflex_mq.protocol.codec import pack, unpack
from helpers.refused import refused_with

INTEGERS = st.integers(-(2**53), 2**53)
SCALARS = (
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False) | st.text(max_size=20) | st.binary(max_size=20)
)
KEYS = st.text(max_size=10).filter(lambda key: key != "__proto__")
MESSAGES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))


@given(MESSAGES)
def test_what_is_packed_is_read(value: Any) -> None:
    assert unpack(pack(value)) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_one_error(data: bytes) -> None:
    with refused_with("DECODE"):
        pack(unpack(data))


def test_numpy_scalars_are_the_values_that_they_are() -> None:
    given = {
        "lr": np.float32(0.5),
        "n": np.int64(8),
        "eval": np.bool_(False),
        "kl": np.float64(0.1),
        "name": np.str_("a"),
    }
    assert unpack(pack(given)) == {"lr": 0.5, "n": 8, "eval": False, "kl": 0.1, "name": "a"}


def test_containers_of_configurations_are_maps_and_lists() -> None:
    class Name(str, enum.Enum):
        GRPO = "grpo"

    assert unpack(pack(OrderedDict(a=(1, 2), b=Name.GRPO))) == {"a": [1, 2], "b": "grpo"}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": {1: "x"}}, ["a"]),
        ({"a": [{"b": {3}}]}, ["a", 0, "b"]),
        ({"w": np.zeros(3)}, ["w"]),
        ({"n": 2**53 + 1}, ["n"]),
        ({"x": object()}, ["x"]),
        ({"__proto__": 1}, []),
        ({"t": "\ud800"}, ["t"]),
        (1j, []),
    ],
)
def test_what_cannot_travel_is_refused_with_its_path(value: Any, path: list[Any]) -> None:
    with pytest.raises(DataflexError) as caught:
        pack(value)
    assert caught.value.code == "INVALID_INPUT"
    assert caught.value.details["path"] == path


def test_a_cycle_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(DataflexError, match="nested deeper than 16"):
        pack(loop)


def test_the_deepest_message_that_is_written_is_read() -> None:
    value: Any = 1
    for _ in range(15):
        value = [value]
    assert unpack(pack(value)) == value
    with pytest.raises(DataflexError):
        pack([value])
    with pytest.raises(DataflexError):
        unpack(b"\x91" + pack(value))


def test_a_long_string_and_a_long_message_are_refused() -> None:
    with pytest.raises(DataflexError, match="DECODE"):
        unpack(b"\xdb\x00\x10\x00\x01" + b"x" * (2**20 + 1))
    with pytest.raises(DataflexError, match="the limit is"):
        unpack(bytes(64 * 2**20 + 1))

"""A put's fields are checked once, by the client."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_mq.client.form import check_flags, check_values
from dataflex_mq.columns.input import to_field_value
from dataflex_mq.errors import DataflexError

NEEDS = {
    need["name"]: need
    for need in (
        {"name": "rewards", "scope": "response"},
        {"name": "acc", "scope": "mask", "kind": "numbers"},
        {"name": "advantages", "scope": "mask"},
        {"name": "uid"},
        {"name": "weight"},
    )
}


def values(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: to_field_value(name, given) for name, given in fields.items()}


def test_fields_in_their_form_pass() -> None:
    fields = {"rewards": np.zeros((2, 3)), "uid": ["a", "b"], "weight": [1.0, 2.0], "lengths": np.array([1, 2])}
    check_values(values({"acc": [1.0, 2.0], "advantages": [1.0, 2.0]}), NEEDS, 2)
    check_values(values({"acc": [[1.0], [2.0, 3.0]]}), NEEDS, 2)
    check_values(values(fields), NEEDS, 2)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"uid": [1, 2]}, 'field "uid" holds numbers'),
        ({"rewards": [1.0, 2.0]}, "one number per row"),
        ({"rewards": ["a", "b"]}, "one string per row"),
        ({"weight": ["a", "b"]}, 'field "weight" holds strings'),
        ({"weight": [[1.0], [2.0, 3.0]]}, 'field "weight" holds one number per token'),
        ({"acc": ["a", "b"]}, 'field "acc" holds strings'),
        ({"weight": [1.0]}, 'field "weight" has 1 rows, this put is for 2'),
        ({"rewards": np.zeros((3, 2))}, 'field "rewards" has 3 rows, this put is for 2'),
        ({"uid": ["a", "b"], "lengths": np.array([1, 2, 3])}, 'field "lengths" has 3 rows'),
    ],
)
def test_others_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DataflexError, match=message) as caught:
        check_values(values(fields), NEEDS, 2)
    assert caught.value.code == "INVALID_INPUT"
    assert caught.value.details["field"] in fields


def test_padding_is_one_flag_a_row() -> None:
    assert check_flags([True, False]).tolist() == check_flags(np.array([1, 0])).tolist() == [True, False]
    for wrong in ([[True]], [0.5], ["x"]):
        with pytest.raises(DataflexError, match="one bool a row"):
            check_flags(wrong)

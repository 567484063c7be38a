"""A trainer's values in the forms that a field's kind allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_mq.client.as_wanted import as_wanted
from dataflex_mq.client.form import check_values
from dataflex_mq.columns.tensor import Features, Strings, Tensor
from dataflex_mq.errors import DataflexError

FEATURES = {"name": "embedding", "kind": "features"}


@pytest.mark.parametrize(
    "given",
    [
        np.array([[1, 2], [3, 4]], dtype=np.float32),
        np.array([[1, 2], [3, 4]], dtype=np.float16),
        [[1.0, 2.0], [3.0, 4.0]],
    ],
)
def test_features_are_matrices_of_their_own_width(given: Any) -> None:
    value = as_wanted(FEATURES, given)
    assert isinstance(value, Features)
    assert value.data.astype(np.float32).tolist() == [[1, 2], [3, 4]]
    check_values({"embedding": value}, {"embedding": FEATURES}, 2)
    assert as_wanted({"name": "features"}, value) is value


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1.0, 2.0], "one number per row"),
        ([[1.0], [2.0, 3.0]], "2 numbers in row 1, where row 0 has 1"),
        (np.zeros((2, 2)), "f64"),
        (["a", "b"], "strings"),
    ],
)
def test_other_features_are_refused(given: Any, words: str) -> None:
    with pytest.raises(DataflexError, match=words) as caught:
        as_wanted(FEATURES, given)
    assert caught.value.code == "INVALID_INPUT"


def test_one_column_is_one_number_a_row() -> None:
    need = {"name": "difficulty"}
    for given in (np.array([[1.0], [2.0]]), [[1.0], [2.0]]):
        value = as_wanted(need, given)
        assert isinstance(value, Tensor)
        assert value.data.tolist() == [1, 2]


def test_strings_under_any_name_may_be_whole_numbers() -> None:
    need = {"name": "source", "kind": "strings"}
    assert as_wanted(need, np.array([2**60, 2**60 + 1])) == Strings([str(2**60), str(2**60 + 1)])
    assert as_wanted(need, []) == Strings([])
    with pytest.raises(DataflexError, match="an id is a string, a whole number or a UUID"):
        as_wanted(need, [b"a"])

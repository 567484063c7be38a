"""The composition's golden vectors, shared with the service's own client."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dataflex_mq.client.compose import RowWeights, TokenWeights, Weights, compose, live_counts
from dataflex_mq.client.like import like_mask
from dataflex_mq.columns.mask import mask_of
from dataflex_mq.columns.tensor import Jagged, MaskColumn, Tensor
from dataflex_mq.errors import DataflexError
from helpers.paths import VECTORS

CASES = {path.stem: json.loads(path.read_text()) for path in sorted((VECTORS / "compose").glob("*.json"))}


def matrix(rows: list[str]) -> np.ndarray:
    return np.array([[int(one) for one in row] for row in rows], dtype=np.uint8)


def column(rows: list[str]) -> MaskColumn:
    data = matrix(rows)
    return mask_of("response_mask", Tensor("bool", data), data.shape[1])


def composed(case: dict[str, Any]) -> tuple[Weights, MaskColumn]:
    scored, loss = column(case["scored"]), column(case["loss"])
    offsets = np.concatenate(([0], np.cumsum(live_counts(scored))))
    weights: list[Weights] = [
        RowWeights(np.array(one["rows"], dtype=np.float32))
        if "rows" in one
        else TokenWeights(offsets, np.array(one["tokens"], dtype=np.float32))
        for one in case["weights"]
    ]
    padding = np.array(case["padding"]) if "padding" in case else None
    return compose(weights, scored, loss, case["composition"], padding).weights, loss


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "composed" in case])
def test_composition(name: str) -> None:
    case = CASES[name]
    weights, _ = composed(case)
    kind = "rows" if isinstance(weights, RowWeights) else "tokens"
    expected = np.array(case["composed"][kind], dtype=np.float32)
    assert weights.values.dtype == np.float32
    assert weights.values.tobytes() == expected.tobytes()

    mask = matrix(case["loss"])
    existing = np.array(case["existing"], dtype=np.float32) if "existing" in case else None
    wanted = np.array(case["expanded"], dtype=np.float32)
    found = expanded(case, mask, existing, ragged=False)
    assert found.dtype == np.float32
    assert found.tobytes() == wanted.tobytes()
    # Ragged, the same numbers: every token of the row, 0 where the mask is.
    assert expanded(case, mask, existing, ragged=True).tobytes() == wanted.reshape(-1).tobytes()


def expanded(case: dict[str, Any], mask: np.ndarray, existing: np.ndarray | None, ragged: bool) -> np.ndarray:
    weights, loss = composed(case)
    if not ragged:
        return like_mask(weights, loss, mask, existing, None, None)
    lengths = np.full(len(mask), mask.shape[1], dtype=np.int32)
    flat = Jagged("bool", mask.reshape(-1), lengths, mask.shape[1])
    held = None if existing is None else Jagged("f32", existing.reshape(-1), lengths, mask.shape[1])
    return like_mask(weights, loss, flat, held, None, None).values


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "refused" in case])
def test_refusal(name: str) -> None:
    case = CASES[name]
    refused = dict(case["refused"])
    mask = matrix(case["loss"])
    existing = np.array(case["existing"], dtype=np.float32) if "existing" in case else None
    for ragged in (False, True):
        with pytest.raises(DataflexError) as caught:
            expanded(case, mask, existing, ragged)
        assert {"code": caught.value.code, **caught.value.details} == refused


def test_every_case_is_one_of_the_two() -> None:
    assert len(CASES) >= 15
    assert all(("composed" in case) != ("refused" in case) for case in CASES.values())

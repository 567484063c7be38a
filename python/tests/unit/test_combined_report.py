"""What a release reports of the composed weights; the numbers are those of the service's own client."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dataflex_mq.client.combined_report import combined_report
from dataflex_mq.client.compose import Composed, RowWeights, TokenWeights, Weights, compose
from dataflex_mq.columns.tensor import MaskColumn

MASK = MaskColumn("u8", 4, 1, np.ones(4, dtype=np.int32))
COUNTS = np.array([2, 0, 1, 3])


def rows(*values: float) -> RowWeights:
    return RowWeights(np.array(values, dtype=np.float32))


def report(weights: Weights, counts: np.ndarray = COUNTS) -> dict[str, Any]:
    found = combined_report(composed(weights, counts))
    assert found is not None
    return found


def composed(weights: Weights, counts: np.ndarray) -> Composed:
    return Composed(weights, MASK, counts, (0, 0), weights, counts)


def test_row_weights_count_live_rows_only() -> None:
    found = report(rows(2, 9, 0, 1))
    assert found["level"] == "sample"
    assert found["stats"] == pytest.approx(
        {
            "n": 3,
            "mean": 1,
            "std": math.sqrt(2 / 3),
            "min": 0,
            "max": 2,
            "ess_ratio": 9 / 15,
            "kept_ratio": 2 / 3,
            "zero_ratio": 1 / 3,
        }
    )


def test_token_weights_count_live_tokens_and_rows_kept_by_any_weight() -> None:
    weights = TokenWeights(np.array([0, 2, 4, 5, 8]), np.array([1, 3, 7, 7, 0, 2, 2, 0], dtype=np.float32))
    found = report(weights)
    assert found["level"] == "token"
    expected = {"n": 6, "mean": 8 / 6, "min": 0, "max": 3, "kept_ratio": 2 / 3, "zero_ratio": 2 / 6}
    assert {name: found["stats"][name] for name in expected} == pytest.approx(expected)


def test_nothing_kept_and_nothing_live() -> None:
    assert report(rows(0, 0, 0, 0))["stats"]["ess_ratio"] == 0
    padding = np.zeros(4, np.int64)
    assert combined_report(composed(rows(0, 0, 0, 0), padding)) is None


def test_composing_counts_what_it_clipped() -> None:
    composition = {"combine": "multiply", "clip": [0.5, 2], "rescale": "none"}
    found = combined_report(compose([rows(0, 0.25, 1, 5)], MASK, MASK, composition))
    assert found is not None
    assert found["clipped"] == {"low": 0.25, "high": 0.25}
    assert found["stats"]["mean"] == pytest.approx(3.5 / 4)
    assert found["product"]["mean"] == pytest.approx(6.25 / 4)

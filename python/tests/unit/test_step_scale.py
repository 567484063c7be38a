"""The number that a trainer may multiply its learning rate by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dataflex_mq import DataflexError, step_scale
from dataflex_mq.client.compose import RowWeights
from dataflex_mq.client.outcomes import PipelineResult
from dataflex_mq.client.step_result import StepResult
from dataflex_mq.columns.tensor import MaskColumn
from dataflex_mq.errors import error

HANDLE = {"composition": {"combine": "multiply", "rescale": "none"}}


def result_of(neutral: DataflexError | None = None, **weights: list[float]) -> StepResult:
    mask = MaskColumn("bool", 4, 1, np.ones(4, dtype=np.int32))
    parts = []
    for name, values in weights.items():
        squares = sum(value * value for value in values)
        header = {"stage": "post_advantage", "stats": {"ess_ratio": sum(values) ** 2 / (4 * squares) if squares else 0}}
        parts.append(PipelineResult(name, header, RowWeights(np.array(values, dtype=np.float32)), mask, None, None))
    return StepResult(HANDLE, 1, 0, 0.0, parts, neutral)


def test_it_is_the_root_of_the_effective_share_of_the_composed_weights() -> None:
    # (1 + 1 + 1 + 3)^2 / (4 * 12) = 0.75
    assert step_scale(result_of(ratio=[1, 1, 1, 3])) == pytest.approx(math.sqrt(0.75))
    assert step_scale(result_of(ratio=[1, 1, 1, 3], keep=[1, 1, 0, 0])) == pytest.approx(math.sqrt(0.5))
    assert step_scale(result_of(ratio=[2, 2, 2, 2])) == 1
    assert step_scale(result_of(keep=[0, 0, 0, 0])) == 0


def test_it_is_that_of_one_pipeline_where_one_is_named() -> None:
    result = result_of(ratio=[1, 1, 1, 3], keep=[1, 1, 0, 0])
    assert step_scale(result, "ratio") == pytest.approx(math.sqrt(0.75))
    assert step_scale(result, "keep") == pytest.approx(math.sqrt(0.5))
    with pytest.raises(
        DataflexError, match='no delivered pipeline is called "other"; delivered: ratio, keep'
    ) as caught:
        step_scale(result, "other")
    assert caught.value.code == "USAGE"


def test_it_changes_nothing_where_nothing_weighs_the_loss() -> None:
    assert step_scale(result_of()) == 1
    away = error("TIMEOUT", "no weights")
    assert (step_scale(result_of(away)), step_scale(result_of(away), "ratio")) == (1, 1)

"""A step's weights are composed when they are asked for, once for a mask, and are the caller's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dataflex_mq.client.step_result as step_result
from dataflex_mq.client.compose import Composed, RowWeights, TokenWeights, Weights, compose
from dataflex_mq.client.open_steps import OpenStep
from dataflex_mq.client.outcomes import PipelineResult
from dataflex_mq.client.step_result import StepResult
from dataflex_mq.columns.tensor import MaskColumn
from dataflex_mq.errors import DataflexError

HANDLE = {"composition": {"combine": "multiply", "rescale": "none"}}
SCORED = np.array([[1, 1, 0], [1, 1, 1]])
LOSS = np.array([[1, 0, 0], [1, 1, 1]])


def pipeline(name: str, weights: Weights) -> PipelineResult:
    mask = MaskColumn("bool", 2, 3, np.array([2, 3], dtype=np.int32))
    return PipelineResult(name, {"stage": "post_advantage"}, weights, mask, None, None)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Composed]:
    """Every composition that was made."""
    made: list[Composed] = []

    def counted(*given: Any) -> Composed:
        made.append(compose(*given))
        return made[-1]

    monkeypatch.setattr(step_result, "compose", counted)
    return made


def test_each_mask_is_composed_once(made: list[Composed]) -> None:
    tokens = TokenWeights(np.array([0, 2, 5]), np.arange(1, 6, dtype=np.float32))
    record = OpenStep()
    result = StepResult(HANDLE, 1, 0, 0.0, [pipeline("a", tokens)], None, record)
    assert (made, record.composed) == ([], None)
    assert result.weights.tolist() == result.weights.tolist() == [[1, 2, 0], [3, 4, 5]]
    assert result.statistics is not None
    assert result.statistics["stats"]["n"] == 5
    result.rollout_is_weights(SCORED)
    assert record.composed is made[0]
    assert len(made) == 1
    for _ in range(2):
        assert result.rollout_is_weights(LOSS).tolist() == [[1, 0, 0], [3, 4, 5]]
    assert len(made) == 2
    assert record.composed is made[1]
    assert result.statistics["stats"]["n"] == 4
    result.weights.tolist()
    assert len(made) == 2


def test_what_is_handed_out_is_the_callers_own() -> None:
    rows = np.frombuffer(np.array([2, 3], dtype=np.float32).tobytes(), dtype=np.float32)
    result = StepResult(HANDLE, 1, 0, 0.0, [pipeline("a", RowWeights(rows))])
    for one in (result, result.pipelines["a"]):
        one.weights[:] = 9
        assert one.weights.tolist() == [2, 3]
    assert result.rollout_is_weights(LOSS).tolist() == [[2, 0, 0], [3, 3, 3]]


def test_weights_without_their_mask_are_refused() -> None:
    rows = RowWeights(np.array([0, 2], dtype=np.float32))
    bare = PipelineResult("bare", {"stage": "post_reward"}, rows, None, None, None)
    for pipelines in ([bare], [pipeline("a", rows), bare]):
        with pytest.raises(DataflexError, match='"bare" came without their mask') as refused:
            StepResult(HANDLE, 1, 0, 0.0, pipelines, None, OpenStep()).rollout_is_weights(SCORED)
        assert refused.value.code == "DECODE"

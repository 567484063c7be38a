"""Results of several stages are brought to the last stage's rows, in the trainer's order."""

from __future__ import annotations

import numpy as np
import pytest

from dataflex_mq.client.align import StepRows, align_result, last_stage, rows_of_step
from dataflex_mq.client.compose import RowWeights, TokenWeights, Weights, to_array
from dataflex_mq.client.outcomes import PipelineResult
from dataflex_mq.columns.mask import mask_of
from dataflex_mq.columns.tensor import Tensor
from dataflex_mq.errors import DataflexError

TABLE = ["a", "b", "c", "d", "e"]
# A row of its own after another, and one with a hole.
MASK = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 1]], dtype=np.uint8)


def result(stage: str, weights: Weights, ranges: list[int], mask: np.ndarray = MASK) -> PipelineResult:
    header = {"stage": stage, "rows": 4, "ranges": ranges, "extremes": {"rows": [3, 0], "weights": [1.0, 2.0]}}
    kept, dropped = np.array([0, 2, 3], dtype=np.int32), np.array([1], dtype=np.int32)
    padding = np.array([False, False, False, True])
    return PipelineResult(
        "p", header, weights, mask_of("response_mask", Tensor("bool", mask), 3), padding, kept, dropped
    )


def rows_of(one: PipelineResult, order: list[str] | None) -> StepRows:
    return rows_of_step([one], one.stage, TABLE, order)


def test_rows_come_in_the_callers_order_or_the_tables() -> None:
    one = result("post_advantage", RowWeights(np.arange(4, dtype=np.float32)), [0, 2, 3, 5])
    assert last_stage([one, result("post_reward", one.compact or RowWeights(MASK[0]), [0, 4])]) == "post_advantage"
    assert last_stage([result("pre_rollout", RowWeights(np.ones(4, np.float32)), [0, 4])]) is None
    assert rows_of(one, None).keys == ["a", "b", "d", "e"]
    # Only a part of the stage's rows: not an order of them.
    assert rows_of(one, ["e", "a"]).keys == ["a", "b", "d", "e"]
    own = rows_of(one, ["e", "a", "d", "b"])
    assert (own.rows.tolist(), own.keys) == ([4, 0, 3, 1], ["e", "a", "d", "b"])
    without = rows_of_step([one], "post_advantage", None, None)
    assert (without.rows.tolist(), without.keys) == ([0, 1, 3, 4], None)
    assert align_result(one, without) is one


@pytest.mark.parametrize("mask", [MASK, np.tril(np.ones((4, 3), np.uint8))])
def test_everything_that_names_rows_moves_with_them(mask: np.ndarray) -> None:
    tokens = TokenWeights(
        np.cumsum([0, *mask.sum(axis=1)], dtype=np.int64), np.arange(1, mask.sum() + 1, dtype=np.float32)
    )
    one = result("post_reward", tokens, [0, 2, 3, 5], mask)
    aligned = align_result(one, StepRows(np.array([4, 0, 1]), ["e", "a", "b"]))
    np.testing.assert_array_equal(aligned.weights, one.weights[[3, 0, 1]])
    assert aligned.mask is not None
    assert aligned.compact is not None
    assert to_array(aligned.compact, aligned.mask).shape == (3, 3)
    assert (aligned.header["rows"], aligned.header["extremes"]["rows"]) == (3, [0, 1])
    assert aligned.kept is not None
    assert aligned.dropped is not None
    assert aligned.padding is not None
    assert (aligned.kept.tolist(), aligned.dropped.tolist()) == ([0, 1], [2])
    assert aligned.padding.tolist() == [True, False, False]


def test_a_row_that_a_pipeline_never_saw_is_named() -> None:
    one = result("post_reward", RowWeights(np.ones(4, np.float32)), [0, 4])
    with pytest.raises(DataflexError, match='row "e" was put at a later stage only') as caught:
        align_result(one, StepRows(np.array([0, 4]), ["a", "e"]))
    assert caught.value.code == "ROWS_CONFLICT"
    with pytest.raises(DataflexError, match="row 4 was put at a later stage only"):
        align_result(one, StepRows(np.array([0, 4])))

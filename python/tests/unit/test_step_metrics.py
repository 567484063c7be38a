"""The same cases as test/unit/client/step-metrics.test.ts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_mq import DataflexError, StepResult
from dataflex_mq.client.compose import RowWeights
from dataflex_mq.client.outcomes import PipelineResult
from dataflex_mq.columns.tensor import MaskColumn

HANDLE: dict[str, Any] = {"composition": {"combine": "multiply", "rescale": "none", "clip": [0, 2]}}
STATS = {
    "n": 3,
    "mean": 4 / 3,
    "std": 1,
    "min": 0,
    "max": 3,
    "ess_ratio": 0.5,
    "kept_ratio": 2 / 3,
    "zero_ratio": 1 / 3,
}


def weighing() -> PipelineResult:
    mask = MaskColumn("bool", 4, 3, np.array([3, 2, 0, 1], dtype=np.int32))
    header = {"stage": "post_advantage", "stats": STATS, "metrics": {"groups": 2}}
    return PipelineResult("main", header, RowWeights(np.array([0, 1, 1, 3], dtype=np.float32)), mask, None, None)


def mixing() -> PipelineResult:
    header = {"stage": "post_reward", "proportions": {"math": 0.75, "code": 0.25}, "metrics": {}}
    return PipelineResult("mix", header, None, None, None, None)


def result_of(*results: PipelineResult) -> StepResult:
    return StepResult(HANDLE, 1, 0, 0.25, list(results))


def test_one_flat_record_the_wait_what_the_loss_takes_each_pipelines_own() -> None:
    found = result_of(weighing(), mixing()).metrics("df")
    expected = {
        "df/wait_s": 0.25,
        "df/neutral": 0,
        "df/loss/mean": 1,
        "df/loss/max": 2,
        "df/loss/clipped_high": 1 / 3,
        "df/main/mean": 4 / 3,
        "df/main/groups": 2,
        "df/mix/share/math": 0.75,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert {type(value) for value in found.values()} == {float}


def test_fields_are_cut_to_the_rows_that_weigh() -> None:
    result = result_of(weighing())
    assert result.kept_rows is not None
    assert result.kept_rows.tolist() == [1, 3]
    cut = result.keep({"ids": ["a", "b", "c", "d"], "values": np.array([1, 2, 3, 4])})
    assert (cut["ids"], cut["values"].tolist()) == (["b", "d"], [2, 4])
    with pytest.raises(DataflexError, match='field "ids" has 1 entries, and the step 4 rows'):
        result.keep({"ids": ["a"]})


def test_where_nothing_weighs_the_loss_every_row_stays() -> None:
    fields = {"ids": ["a", "b"]}
    assert result_of(mixing()).keep(fields) == fields
    assert result_of(mixing()).metrics() == {
        "dataflex/wait_s": 0.25,
        "dataflex/neutral": 0,
        "dataflex/mix/share/math": 0.75,
        "dataflex/mix/share/code": 0.25,
    }

"""A session may leave several rows of one outcome: the one with the highest index counts, whatever the order of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dataflex_mq import Client, DataflexError
from helpers.runs import mounted

MEAN = {
    "mechanism": "select",
    "scorer": {"name": "group_mean_reward"},
    "actuator": {"name": "threshold_band", "params": {"low": 0, "high": 1}},
}
STAGE = "post_reward"


def rows(rewards: Sequence[float], **more: Any) -> dict[str, Any]:
    count = len(rewards)
    return {
        "rm_scores": np.array(rewards, dtype=np.float32).reshape(-1, 1),
        "response_mask": np.ones((count, 1), dtype=np.int64),
        "uid": ["g"] * count,
        **more,
    }


def mean_score(run: Any, step: int) -> float:
    (pipeline,) = run.weights(step, timeout=20.0).pipelines.values()
    return float(pipeline.header["score_stats"]["mean"])


def test_the_highest_index_counts_in_any_order_and_through_keys(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, MEAN)
    index = np.array([1, 0, 0])
    run.put(1, STAGE, rows([1, 0, 0], session=["0", "1", "0"], session_index=index))
    assert mean_score(run, 1) == 0.5
    run.put(2, STAGE, rows([0, 1, 0], session=["0", "0", "1"], session_index=[0, 1, 0]), keys=["a", "b", "c"])
    assert mean_score(run, 2) == 0.5
    run.submit(3, STAGE, rows([1, 0, 0], session=["0", "1", "0"], session_index=index)).sent()
    assert mean_score(run, 3) == 0.5


def test_without_indices_the_last_row_counts_whatever_the_mount_named(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, MEAN, provides=["rm_scores", "response_mask", "uid"])
    run.put(1, STAGE, rows([1, 1, 1, 0], session=["0", "0", "0", "1"]))
    run.put(2, STAGE, rows([1, 1, 1, 0]))
    assert (mean_score(run, 1), mean_score(run, 2)) == (0.5, 0.75)


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("no session was put", {"session_index": [0, 1, 2]}),
        ("None in row 1", {"session": ["0", None, "1"]}),
        ("no index in row 2", {"session": ["0", "0", "1"], "session_index": [0, 1, 0.5]}),
        ("no index in row 0", {"session": ["0", "0", "1"], "session_index": np.array([-1, 1, 0])}),
        ("rows 0 and 2 both have index 1", {"session": ["0", "1", "0"], "session_index": [1, 1, 1]}),
        ('"session" has 2 rows', {"session": ["0", "1"]}),
    ],
)
def test_sessions_that_say_nothing_are_refused(client: Client, run_id: str, words: str, more: dict[str, Any]) -> None:
    run = mounted(client, run_id, MEAN)
    with pytest.raises(DataflexError, match=words) as caught:
        run.put(1, STAGE, rows([1, 0, 0], **more))
    assert caught.value.code == "INVALID_INPUT"


def test_sessions_go_with_uid_and_padding_rows_may_share_an_index(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, MEAN)
    alone = rows([1, 0], session=["0", "1"])
    del alone["uid"]
    with pytest.raises(DataflexError, match="with uid"):
        run.put(1, STAGE, alone)
    padded = rows([1, 0, 0, 0], session=["0", "1", "p", "p"], session_index=[0, 0, 0, 0])
    run.put(1, STAGE, padded, is_padding=[False, False, True, True])
    assert mean_score(run, 1) == 0.5

"""What verl's names of rows say of sessions, from the queue to the scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import transfer_queue as tq
from stored_rows import Row, store

from dataflex_mq import Client, DataflexError
from dataflex_mq.verl.queue_rows import read_rows

MEAN = {
    "mechanism": "select",
    "scorer": {"name": "group_mean_reward"},
    "actuator": {"name": "threshold_band", "params": {"low": 0, "high": 1}},
}


@pytest.fixture
def moved(queue: None) -> Iterator[Any]:
    """A session of two rows, as length balancing may leave them: the later one first."""
    batch = store([Row("a_b_0_1", [1, 1], 1.0), Row("a_b_1_0", [1], 0.0), Row("a_b_0_0", [1], 0.0)])
    yield batch
    tq.kv_clear(keys=batch.keys, partition_id="train")


def test_the_last_row_of_a_session_counts_wherever_it_stands(service: Any, run_id: str, moved: Any) -> None:
    rows = read_rows(moved, ["uid", "rm_scores", "response_mask"])
    assert list(rows.fields["uid"]) == ["a_b"] * 3
    assert list(rows.fields["session_index"]) == [1, 0, 0]
    with Client(service.url) as client:
        run = client.mount(run_id, MEAN, adv_estimator="grpo")
        run.put(1, "post_reward", rows.fields, keys=rows.keys, lengths=rows.lengths, is_padding=rows.is_padding)
        (pipeline,) = run.weights(1, timeout=20.0).pipelines.values()
        assert pipeline.header["score_stats"]["mean"] == 0.5


def test_a_row_of_another_name_is_refused(queue: None) -> None:
    batch = store([Row("a_0_x", [1], 1.0)])
    with pytest.raises(DataflexError, match="a_0_x"):
        read_rows(batch, ["uid"])
    tq.kv_clear(keys=batch.keys, partition_id="train")

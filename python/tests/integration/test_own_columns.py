"""Columns under names of the trainer's own, and the forms that trainers have."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
import pytest

from dataflex_mq import Client, DataflexError
from helpers.runs import mounted

BAND = {"name": "threshold_band", "params": {"low": 0.5, "high": 100}}
MASK = np.array([[1, 1, 0], [1, 1, 1]], dtype=np.int64)
REWARD = {
    "mechanism": "select",
    "scorer": {"name": "group_mean_reward"},
    "actuator": {"name": "threshold_band", "params": {"low": 0, "high": 1}},
}


def column(name: str, **params: Any) -> dict[str, Any]:
    return {"mechanism": "select", "scorer": {"name": "column", "params": {"name": name, **params}}, "actuator": BAND}


def outcome(run: Any, step: int) -> Any:
    (pipeline,) = run.weights(step, timeout=20.0).pipelines.values()
    return pipeline


@pytest.mark.parametrize("acc", [[0.25, 1.0], np.array([0.25, 1.0]), np.array([0, 1], dtype=np.int8), [False, True]])
def test_one_number_a_row_under_any_name_filters(client: Client, run_id: str, acc: Any) -> None:
    run = mounted(client, run_id, column("acc"))
    assert {"name": "acc", "scope": "mask", "kind": "numbers"} in run.wants["post_reward"]
    run.put(1, "post_reward", {"acc": acc, "response_mask": MASK})
    assert outcome(run, 1).kept.tolist() == [1]


def test_one_number_a_token_is_reduced_over_the_counted_ones(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, column("head_2", reduce="max"))
    run.put(1, "post_reward", {"head_2": np.array([[1.0, 0.25, 700], [2, 1, 9]]), "response_mask": MASK})
    assert outcome(run, 1).header["score_stats"]["mean"] == 5.0


def test_rewards_and_advantages_may_be_one_number_a_row(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, REWARD)
    uid = ["g", "g"]
    run.put(1, "post_reward", {"rm_scores": np.array([0.25, 1.0], dtype=np.float32), "response_mask": MASK, "uid": uid})
    run.put(2, "post_reward", {"response_mask": MASK})
    run.put(2, "post_reward", {"rm_scores": [0.25, 1.0], "uid": uid})
    for step in (1, 2):
        assert outcome(run, step).header["score_stats"]["mean"] == 0.625
    soft = mounted(
        client,
        f"{run_id}-soft",
        {"mechanism": "reweight", "scorer": {"name": "signed_advantage"}, "actuator": {"name": "softmax"}},
    )
    soft.put(1, "post_advantage", {"advantages": [-2.0, 1.0], "response_mask": MASK})
    whole = np.array([[-2, -2, 9], [1, 1, 1]], dtype=np.float32)
    soft.put(2, "post_advantage", {"advantages": whole, "response_mask": MASK})
    np.testing.assert_array_equal(soft.weights(1, 20.0).weights, soft.weights(2, 20.0).weights)
    with pytest.raises(DataflexError, match="put response_mask with it"):
        soft.put(3, "post_advantage", {"advantages": [-2.0, 1.0]})


@pytest.mark.parametrize(
    "uid",
    [
        [7, 7],
        np.array([7, 7], dtype=np.int32),
        np.array([2**60, 2**60]),
        [uuid.UUID(int=5), uuid.UUID(int=5)],
        np.array([np.int64(7), 7], dtype=object),
    ],
)
def test_group_ids_may_be_whole_numbers(client: Client, run_id: str, uid: Any) -> None:
    run = mounted(client, run_id, REWARD)
    run.put(1, "post_reward", {"rm_scores": [0.0, 1.0], "response_mask": MASK, "uid": uid})
    assert outcome(run, 1).header["score_stats"]["mean"] == 0.5


@pytest.mark.parametrize(
    ("uid", "words"),
    [
        ([7, 7.5], "in row 1"),
        ([7, None], "in row 1"),
        ([b"a", b"b"], "a string, a whole number or a UUID"),
        ([1.5, 2.5], "a string, a whole number or a UUID"),
        (np.array([1.5, 2.5]), "holds numbers"),
    ],
)
def test_other_ids_are_refused(client: Client, run_id: str, uid: Any, words: str) -> None:
    run = mounted(client, run_id, REWARD)
    with pytest.raises(DataflexError, match=words) as caught:
        run.put(1, "post_reward", {"rm_scores": [0.0, 1.0], "response_mask": MASK, "uid": uid})
    assert caught.value.code == "INVALID_INPUT"


def test_a_misspelt_field_is_refused_with_the_name_that_is_missing(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, column("advantages"))
    with pytest.raises(DataflexError, match=r'"advantage" .* "advantages"'):
        run.put(1, "post_advantage", {"advantage": [1.0, 2.0], "response_mask": MASK})
    extra = {"advantages": [1.0, 2.0], "response_mask": MASK, "values": MASK, "note": ["a", "b"]}
    assert run.put(1, "post_advantage", extra).sent == ["advantages", "response_mask"]


def test_a_step_without_rows(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, REWARD)
    run.put(1, "post_reward", {"rm_scores": [], "response_mask": [], "uid": []})
    assert outcome(run, 1).kept.tolist() == []

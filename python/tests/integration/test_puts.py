"""Puts: several producers, keys, ranges, what is refused, and that the same put again changes nothing."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from dataflex_mq import Client, DataflexError
from helpers.fixture_f import SELECT, SOFTMAX, SOFTMAX_WEIGHTS, fields
from helpers.processes import PrivateRedis
from helpers.runs import mounted, posted

STAGE = "post_advantage"
KEYS = [f"k{i}" for i in range(8)]


def wanted() -> dict[str, Any]:
    given = fields()
    return {name: given[name] for name in ("advantages", "response_mask")}


def part(start: int, stop: int) -> dict[str, Any]:
    return {name: value[start:stop] for name, value in wanted().items()}


def code_of(work: Any) -> str:
    with pytest.raises(DataflexError) as caught:
        work()
    return caught.value.code


def test_ranges_of_several_producers_make_one_step(client: Client, service: PrivateRedis, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    with Client(service.url) as other:
        joined = other.attach(run_id)
        assert joined.handle == run.handle
        assert run.put(1, STAGE, part(3, 8), rows=(3, 8), total_rows=8).kind == "NEW"
        assert joined.put(1, STAGE, part(0, 3), rows=range(0, 3), total_rows=8).sent == ["advantages", "response_mask"]
        for one in (run, joined):
            np.testing.assert_allclose(one.weights(1, timeout=20.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)


def test_many_threads_of_one_client(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    found: dict[int, list[float]] = {}

    def work(step: int) -> None:
        for start in (0, 4):
            run.put(step, STAGE, part(start, start + 4), rows=(start, start + 4), total_rows=8)
        found[step] = run.weights(step, timeout=30.0).weights.tolist()
        run.release(step)

    threads = [threading.Thread(target=work, args=(step,)) for step in range(1, 13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12
    np.testing.assert_allclose(list(found.values()), [SOFTMAX_WEIGHTS] * 12, atol=1e-6)


def test_keys_name_rows_in_any_order(client: Client, service: PrivateRedis, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    given = wanted()
    order = [5, 0, 7, 2, 1, 6, 3, 4]
    run.put(1, STAGE, {"response_mask": given["response_mask"]}, keys=KEYS)
    shuffled = {"advantages": given["advantages"][order[:3]]}
    run.put(1, STAGE, shuffled, keys=[KEYS[i] for i in order[:3]])
    with Client(service.url) as other:
        # It has put no mask of these rows itself, so it sends one.
        rest = {name: value[order[3:]] for name, value in given.items()}
        joined = other.attach(run_id)
        assert code_of(
            lambda: joined.put(1, STAGE, {"advantages": rest["advantages"]}, keys=[KEYS[i] for i in order[3:]])
        ) == ("INVALID_INPUT")
    run.put(1, STAGE, {"advantages": rest["advantages"]}, keys=np.array([KEYS[i] for i in order[3:]], dtype=object))
    np.testing.assert_allclose(run.weights(1, timeout=20.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)


def test_two_producers_that_both_put_first_agree_on_the_first_ones_order(
    client: Client, service: PrivateRedis, run_id: str
) -> None:
    run = mounted(client, run_id, SOFTMAX)
    given = wanted()
    with Client(service.url) as other:
        joined = other.attach(run_id)
        # Both ask for the row table before either has put.
        assert joined.put(1, STAGE, {"response_mask": given["response_mask"]}, keys=KEYS).kind == "NEW"
        backwards = {"response_mask": given["response_mask"][::-1], "advantages": given["advantages"][::-1]}
        assert code_of(lambda: run.put(1, STAGE, backwards, keys=KEYS[::-1])) == "ROWS_CONFLICT"
        run.put(1, STAGE, {"response_mask": given["response_mask"][::-1]}, keys=KEYS[::-1])
        run.put(1, STAGE, {"advantages": given["advantages"][::-1]}, keys=KEYS[::-1])
    result = run.weights(1, timeout=20.0)
    # Weights come in the order of this producer's own puts.
    assert result.keys == KEYS[::-1]
    np.testing.assert_allclose(result.weights, SOFTMAX_WEIGHTS[::-1], atol=1e-6)


def test_the_same_put_again_is_nothing_and_another_content_is_refused_or_a_new_attempt(
    client: Client, run_id: str
) -> None:
    run = mounted(client, run_id, SOFTMAX)
    given = wanted()
    first = run.put(1, STAGE, given)
    assert (first.kind, first.attempt) == ("NEW", 1)
    assert run.put(1, STAGE, given).kind == "DUPLICATE"
    run.weights(1, timeout=20.0)
    other = {**given, "advantages": np.ones((8, 4), np.float32)}
    assert code_of(lambda: run.put(1, STAGE, other)) == "PUT_CONFLICT"
    again = run.put(1, STAGE, other, replace=True)
    assert (again.kind, again.attempt) == ("REPLACED", 2)
    assert run.weights(1, timeout=20.0).weights.tolist() == [1.0] * 8


@pytest.mark.parametrize(
    ("put", "code"),
    [
        ({"rows": (0, 4)}, "INVALID_INPUT"),
        ({"rows": (4, 12), "total_rows": 9}, "INVALID_INPUT"),
        ({"total_rows": -1}, "LIMIT"),
        ({"total_rows": 2**21}, "LIMIT"),
        ({"keys": KEYS[:7]}, "INVALID_INPUT"),
        ({"keys": ["a"] * 8}, "INVALID_INPUT"),
        ({"keys": KEYS, "rows": (0, 8)}, "INVALID_INPUT"),
        ({"lengths": [4] * 7}, "INVALID_INPUT"),
        ({"lengths": [1] * 8}, "INVALID_INPUT"),
        ({"is_padding": [False] * 9}, "INVALID_INPUT"),
        ({"is_padding": [0.5] * 8}, "INVALID_INPUT"),
        ({"step": -1}, "INVALID_INPUT"),
        ({"step": 1.5}, "INVALID_INPUT"),
        ({"trigger": True}, "INVALID_INPUT"),
        ({"stage": "in_loss"}, "INVALID_INPUT"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_travels(
    client: Client, service: PrivateRedis, run_id: str, put: dict[str, Any], code: str
) -> None:
    run = mounted(client, run_id, SOFTMAX)
    call = {"step": 1, "stage": STAGE, "fields": wanted(), **put}
    assert code_of(lambda: run.put(**call)) == code
    assert not service.client().keys(f"dfx2:*:{run_id}:*:status")


def test_wrong_shapes_are_named(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    given = wanted()
    for wrong, message in (
        ({"advantages": given["advantages"][:7]}, "has 7 rows"),
        ({"advantages": given["advantages"][:, :3]}, "pad them alike"),
        ({"advantages": given["advantages"][:, :, None]}, "a field is"),
        ({"response_mask": given["response_mask"][:, 0]}, "one number per row; it is read token by token"),
        ({"advantages": ["a"] * len(given["advantages"])}, "one string per row; it is read token by token"),
        ({"response_mask": given["response_mask"] * 2}, "a mask holds only 0 and 1"),
    ):
        with pytest.raises(DataflexError, match=message):
            run.put(1, STAGE, {**given, **wrong})
    with pytest.raises(DataflexError, match="no response_mask is known"):
        run.put(1, STAGE, {"advantages": given["advantages"]})
    grouped = mounted(client, f"{run_id}-grouped", SELECT)
    with pytest.raises(DataflexError, match='"uid" holds numbers; it is a column of one string per row'):
        posted(grouped, 1, {**fields(), "uid": np.arange(8) / 2})


def test_rows_that_were_put_and_another_total_are_refused(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    run.put(1, STAGE, part(0, 4), rows=(0, 4), total_rows=8)
    assert code_of(lambda: run.put(1, STAGE, part(2, 6), rows=(2, 6), total_rows=8)) == "ROWS_CONFLICT"
    assert code_of(lambda: run.put(1, STAGE, part(4, 8), rows=(4, 8), total_rows=9)) == "ROWS_CONFLICT"
    run.put(1, STAGE, part(4, 8), rows=(4, 8), total_rows=8)
    np.testing.assert_allclose(run.weights(1, timeout=20.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)


def test_padding_rows_count_nowhere(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, {"pipelines": {"size": SOFTMAX, "band": {**SELECT, "shadow": True}}})
    given = fields()
    padded = {
        name: np.concatenate([value, np.array(["pad", "pad"], dtype=object)])
        if name == "uid"
        else np.concatenate([value, np.full((2, 4), 1, dtype=value.dtype)])
        for name, value in given.items()
    }
    flags = [False] * 8 + [True] * 2
    posted(run, 1, padded, is_padding=np.array(flags), lengths=[4, 3, 2, 4, 1, 3, 4, 2, 4, 4])
    result = run.weights(1, timeout=20.0)
    np.testing.assert_allclose(result.weights, [*SOFTMAX_WEIGHTS, 0, 0], atol=1e-6)
    assert not result.rollout_is_weights(padded["response_mask"])[8:].any()


def test_fields_that_are_not_wanted_stay_here(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    assert {stage: [need["name"] for need in needs] for stage, needs in run.wants.items()} == {
        STAGE: ["response_mask", "advantages"]
    }
    assert run.put(1, "post_reward", fields()).kind == "NOTHING_WANTED"
    assert run.put(1, STAGE, {"values": object()}).kind == "NOTHING_WANTED"


def test_triggers_of_a_step_are_kept_apart(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    for trigger, size in ((0, 1.0), (1, 3.0)):
        given = {"advantages": np.array([[size], [1.0]], np.float32), "response_mask": np.ones((2, 1), bool)}
        run.put(1, STAGE, given, trigger=trigger)
    assert run.weights(1, timeout=20.0).weights.tolist() == [1.0, 1.0]
    assert run.weights(1, timeout=20.0, trigger=1).weights[0] > 1.7

"""Whatever is handed over by mistake: one typed error that names it, at once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dataflex_mq import Client, DataflexError, Run, StepResult, WaitTimeout
from helpers.fixture_f import SOFTMAX, fields
from helpers.processes import PrivateRedis
from helpers.runs import mounted, weighed

STAGE = "post_advantage"
ONES = np.ones((8, 4))


def refused(work: Callable[[], Any], code: str, said: str) -> None:
    with pytest.raises(DataflexError) as caught:
        work()
    assert caught.value.code == code
    assert said in caught.value.message


@pytest.mark.parametrize("given", [5, b"redis://127.0.0.1:1", ["redis://127.0.0.1:1"], {}])
def test_an_address_is_a_string(given: Any) -> None:
    refused(lambda: Client(given), "USAGE", type(given).__name__)


def test_what_answers_may_be_no_redis() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                connection.recv(1)

        other = threading.Thread(target=answer)
        other.start()
        address = f"redis://127.0.0.1:{server.getsockname()[1]}"
        refused(lambda: Client(address), "REDIS_UNREACHABLE", "is no Redis")
        other.join()


def test_seconds_to_connect_are_a_number(service: PrivateRedis) -> None:
    refused(lambda: Client(service.url, connect_timeout="5"), "INVALID_INPUT", "connect_timeout")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [None, 5, ""])
def test_a_run_has_a_name(client: Client, given: Any) -> None:
    refused(lambda: client.attach(given), "INVALID_INPUT", "run_id")
    refused(lambda: client.mount(given, SOFTMAX), "INVALID_INPUT", "run_id")


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ({"adv_estimator": 3}, "CONFIG"),
        ({"adv_estimator": ["grpo"]}, "CONFIG"),
        ({"adv_estimator": {1}}, "INVALID_INPUT"),
        ({"provides": 5}, "INVALID_INPUT"),
        ({"provides": "uid"}, "INVALID_INPUT"),
        ({"provides": [1]}, "CONFIG"),
        ({"provides": [{1}]}, "INVALID_INPUT"),
        ({"group_size": "8"}, "CONFIG"),
        ({"group_size": {8}}, "INVALID_INPUT"),
        ({"trainer": 5}, "CONFIG"),
        ({"trainer": {"loss_mode": {1}}}, "INVALID_INPUT"),
        ({"mount_id": 5}, "INVALID_INPUT"),
        ({"timeout": "5"}, "INVALID_INPUT"),
    ],
)
def test_arguments_of_a_mount(client: Client, run_id: str, named: dict[str, Any], code: str) -> None:
    refused(lambda: client.mount(run_id, SOFTMAX, **named), code, next(iter(named)))


@pytest.mark.parametrize("given", [None, [ONES], ONES, "advantages", 5])
def test_fields_are_a_mapping(client: Client, run_id: str, given: Any) -> None:
    run = mounted(client, run_id, SOFTMAX)
    refused(lambda: run.put(1, STAGE, given), "INVALID_INPUT", "fields")
    refused(lambda: run.submit(1, STAGE, given), "INVALID_INPUT", "fields")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *(("total_rows", given) for given in ("8", 8.0, True, [8])),
        *(("rows", given) for given in ("08", 8, (0, "8"), (0, 8.0), (0, None), (0, 4, 8), range(0, 8, 2))),
        *(("keys", given) for given in (5, "abcdefgh", list(range(8)), [None] * 8, ["k"] * 8)),
        *(("lengths", given) for given in ("4", 4, [[1], [1, 2]], [4.0] * 8, [None] * 8, [-1] * 8, [4] * 7)),
        *(("is_padding", given) for given in ("no", 0, [[0], [0, 1]], ["no"] * 8, [None] * 8, [False] * 7)),
        *(("trigger", given) for given in (-1, "0", 0.0, None)),
        *(("timeout", given) for given in (-1, "5", float("nan"), float("inf"))),
    ],
)
def test_arguments_of_a_put(client: Client, run_id: str, name: str, given: Any) -> None:
    run = mounted(client, run_id, SOFTMAX)
    if name == "keys":
        with pytest.raises(DataflexError, match="key"):
            run.put(1, STAGE, fields(), keys=given)
        return
    refused(lambda: run.put(1, STAGE, fields(), **{name: given}), "INVALID_INPUT", name)


@pytest.mark.parametrize("stages", [["post_advantages"], "post_advantage", [None], 5])
def test_stages_of_a_wait(client: Client, run_id: str, stages: Any) -> None:
    run = mounted(client, run_id, SOFTMAX)
    refused(lambda: run.weights(1, timeout=0.1, stages=stages), "INVALID_INPUT", "stage")


def test_a_put_at_a_stage_that_wants_nothing_is_told_by_the_wait(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    assert run.put(1, "post_reward", fields()).kind == "NOTHING_WANTED"
    with pytest.raises(WaitTimeout, match="response_mask, advantages at post_advantage"):
        run.weights(1, timeout=0.1)


@pytest.fixture
def result(client: Client, run_id: str) -> StepResult:
    run: Run = mounted(client, run_id, SOFTMAX)
    return weighed(run, 1, fields())


@pytest.mark.parametrize(
    "existing",
    [
        5,
        "x",
        [[1.0]],
        ONES[:4],
        ONES.astype(np.complex64),
        ONES.astype(str),
        ONES.astype(object),
        np.full((8, 4), np.nan),
    ],
)
def test_existing_weights_are_numbers(result: StepResult, existing: Any) -> None:
    mask = fields()["response_mask"]
    refused(lambda: result.rollout_is_weights(mask, existing), "INVALID_INPUT", "rollout_is_weights")


@pytest.mark.parametrize("dtype", ["junk", np.int64, np.bool_, np.complex64, str, object, 5])
def test_weights_are_fractions(result: StepResult, dtype: Any) -> None:
    """As an integer every weight below 1 would be 0."""
    mask = fields()["response_mask"]
    refused(lambda: result.rollout_is_weights(mask, dtype=dtype), "INVALID_INPUT", "dtype")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_floating_dtype(result: StepResult, dtype: Any) -> None:
    given = fields()["response_mask"]
    whole = result.rollout_is_weights(given)
    padded = result.rollout_is_weights(given, dtype=dtype)
    assert padded.dtype == dtype
    np.testing.assert_array_equal(padded, whole.astype(dtype))
    lengths = given.sum(axis=1)
    ragged = result.rollout_is_weights({"values": np.ones(lengths.sum(), dtype=bool), "lengths": lengths}, dtype=dtype)
    assert ragged.dtype == f"f{8 * ragged.values.itemsize}"
    np.testing.assert_array_equal(ragged.values, padded[given == 1])

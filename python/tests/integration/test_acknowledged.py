"""What was acknowledged counts, whatever Redis loses; and the rows of a step are one table."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import redis

from dataflex_mq import Client, DataflexError, Run, StepResult, WaitTimeout
from dataflex_mq.redis.keys import run_keys
from helpers.fixture_f import block
from helpers.lagging import lagging
from helpers.paths import REPOSITORY
from helpers.processes import PrivateRedis, Service, eventually
from helpers.runs import mounted

STAGE = "post_advantage"
SCORERS = REPOSITORY / "test" / "helpers" / "plugins" / "scorers.ts"
REWEIGHT = block("reweight", "advantage_magnitude", "softmax")
SELECT = block("select", "group_solve_rate", ("threshold_band", {"low": 0.2, "high": 0.8}))
KEYED = {"pipelines": {"kept": SELECT, "weighed": REWEIGHT}}


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateRedis]:
    own = PrivateRedis()
    services = [Service("broker", own.url), Service("worker", own.url, "--slots", "4", "--plugin", str(SCORERS))]
    for service in services:
        service.wait_until_ready()
    yield own
    for one in (*services, own):
        one.close()


@pytest.fixture
def own_client(server: PrivateRedis) -> Iterator[Client]:
    with Client(server.url) as client:
        yield client


@pytest.fixture
def raw(server: PrivateRedis) -> redis.Redis:
    return server.client()


def status_of(run: Run, step: int) -> str:
    return run_keys(run.handle["run"]).step(run.handle["incarnation"], f"{step}.0").status


def advantages(values: list[float]) -> dict[str, Any]:
    """Row i holds `values[i]` over i + 1 tokens."""
    mask = np.arange(len(values) + 1) <= np.arange(len(values))[:, None]
    return {"advantages": np.where(mask, np.array(values, np.float32)[:, None], 0), "response_mask": mask}


def rewards(values: list[float]) -> dict[str, Any]:
    """Groups of two rows of two tokens."""
    rows = len(values)
    uid = np.array([f"prompt-{row // 2}" for row in range(rows)], dtype=object)
    return {"rm_scores": np.array([[0, value] for value in values]), "response_mask": np.ones((rows, 2)), "uid": uid}


def softmax(values: list[float]) -> np.ndarray:
    scores = np.exp(np.abs(values))
    return len(values) * scores / scores.sum()


def assert_weights(result: StepResult, values: list[float]) -> None:
    np.testing.assert_allclose(result.pipelines["main"].weights, softmax(values), atol=1e-5)


def gated(folder: Path) -> dict[str, Any]:
    return block("reweight", ("gated", {"folder": str(folder)}), "softmax")


def held(folder: Path, run: Run, step: int) -> int:
    """Attempts that have begun."""
    file = folder / f"held-{run.handle['run']}-{step}"
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_a_replacement_that_a_failover_lost_counts_all_the_same(
    own_client: Client, raw: redis.Redis, run_id: str
) -> None:
    run = mounted(own_client, run_id, REWEIGHT)
    run.put(1, STAGE, advantages([1, 2, 3]))
    promote = lagging(raw)
    assert run.put(1, STAGE, advantages([3, 1, 2]), replace=True).attempt == 2
    promote()
    assert_weights(run.weights(1, timeout=20.0), [3, 1, 2])


def test_an_outcome_of_the_content_that_the_failover_brought_back_is_not_taken(
    own_client: Client, raw: redis.Redis, run_id: str
) -> None:
    run = mounted(own_client, run_id, REWEIGHT)
    run.put(1, STAGE, advantages([1, 2, 3]))
    assert_weights(run.weights(1, timeout=20.0), [1, 2, 3])
    promote = lagging(raw)
    run.put(1, STAGE, advantages([3, 1, 2]), replace=True)
    promote()
    assert_weights(run.weights(1, timeout=20.0), [3, 1, 2])


def test_a_job_of_replaced_content_that_outlives_the_emptied_redis_settles_nothing(
    own_client: Client, raw: redis.Redis, run_id: str, tmp_path: Path
) -> None:
    run = mounted(own_client, run_id, gated(tmp_path))
    run.put(1, STAGE, advantages([1, 2, 3]))
    eventually("the first attempt is scored", lambda: held(tmp_path, run, 1) == 1)
    run.put(1, STAGE, advantages([3, 1, 2]), replace=True)
    eventually("the second attempt is scored", lambda: held(tmp_path, run, 1) == 2)
    raw.flushall()
    found: list[StepResult] = []
    waiting = threading.Thread(target=lambda: found.append(run.weights(1, timeout=30.0)))
    waiting.start()
    eventually("the step is scored again", lambda: held(tmp_path, run, 1) >= 3)
    (tmp_path / "open-1").touch()
    waiting.join()
    assert_weights(found[0], [3, 1, 2])


def test_redis_comes_back_empty_after_a_step_was_settled_and_before_its_weights_were_read(
    own_client: Client, raw: redis.Redis, run_id: str
) -> None:
    run = mounted(own_client, run_id, REWEIGHT)
    run.put(1, STAGE, advantages([1, 2, 3]))
    status = status_of(run, 1)
    eventually("the step is settled", lambda: raw.hexists(status, "settled:main"))
    created = int(raw.hget(status, "created"))
    # Long enough for a heartbeat to look after the step.
    eventually("a heartbeat", lambda: raw.time()[0] * 1000 - created > 4000)
    raw.flushall()
    assert_weights(run.weights(1, timeout=20.0), [1, 2, 3])
    raw.flushall()
    # What was read is answered again, and nothing of it is put any more.
    assert_weights(run.weights(1, timeout=20.0), [1, 2, 3])
    assert not raw.exists(status)


def test_the_later_trainer_wins_though_the_earlier_one_put_its_mount_back_first(
    own_client: Client, raw: redis.Redis, run_id: str
) -> None:
    first = mounted(own_client, run_id, REWEIGHT)
    second = mounted(own_client, run_id, REWEIGHT, takeover=True)
    raw.hset(run_keys(run_id).mount, "inc", str(first.handle["incarnation"]))
    second.put(1, STAGE, advantages([1, 2, 3]))
    assert_weights(second.weights(1, timeout=20.0), [1, 2, 3])
    with pytest.raises(DataflexError, match="FENCED"):
        first.put(2, STAGE, advantages([1, 2, 3]))


def test_the_same_content_put_again_with_replace_over_a_failure_is_a_new_attempt(
    own_client: Client, run_id: str, tmp_path: Path
) -> None:
    run = mounted(own_client, run_id, gated(tmp_path))
    run.put(2, STAGE, advantages([1, 2, 3]))
    with pytest.raises(WaitTimeout):
        run.weights(2, timeout=0.5)
    (tmp_path / "open-2").touch()
    again = run.put(2, STAGE, advantages([1, 2, 3]), replace=True)
    assert (again.kind, again.attempt) == ("REPLACED", 2)
    assert_weights(run.weights(2, timeout=20.0), [1, 2, 3])
    # Over a result it changes nothing, as ever.
    once_more = run.put(2, STAGE, advantages([1, 2, 3]), replace=True)
    assert (once_more.kind, once_more.attempt) == ("DUPLICATE", 2)


def test_a_step_that_was_released_stays_released_when_redis_comes_back_empty(
    own_client: Client, server: PrivateRedis, raw: redis.Redis, run_id: str
) -> None:
    run = mounted(own_client, run_id, SELECT)
    given = rewards([1, 0, 1, 1])
    with Client(server.url) as other:
        rank = other.attach(run_id)
        run.put(1, "post_reward", {name: given[name] for name in ("response_mask", "uid")})
        rank.put(1, "post_reward", {"rm_scores": given["rm_scores"]}, lengths=[2] * 4)
        run.weights(1, timeout=20.0)
        run.release(1)
        raw.flushall()
        status = status_of(run, 1)
        eventually("the mount is back", lambda: raw.exists(run_keys(run_id).mount), 8.0)
        eventually("the step is released again", lambda: raw.hexists(status, "released"), 8.0)
        assert b"span:post_reward" not in raw.hkeys(status)


def test_an_outcome_that_was_read_is_answered_again_without_redis(run_id: str) -> None:
    own = PrivateRedis()
    services = [Service(role, own.url).wait_until_ready() for role in ("broker", "worker")]
    try:
        with Client(own.url) as client:
            run = mounted(client, run_id, REWEIGHT)
            run.put(1, STAGE, advantages([1, 2, 3]))
            assert_weights(run.weights(1, timeout=20.0), [1, 2, 3])
            own.stop()
            assert_weights(run.weights(1, timeout=20.0), [1, 2, 3])
    finally:
        for one in (*services, own):
            one.close()


def test_keys_in_another_order_mean_the_same_rows_at_both_later_stages(own_client: Client, run_id: str) -> None:
    run = mounted(own_client, run_id, KEYED)
    values, table = [1.0, 2.0, 3.0, 4.0], ["d", "c", "b", "a"]
    run.put(1, "post_reward", rewards([1, 0, 1, 1]), keys=table)
    backwards = {name: value[::-1] for name, value in advantages(values).items()}
    run.put(1, STAGE, backwards, keys=table[::-1])
    result = run.weights(1, timeout=20.0)
    # In the order of the run's own last put, and it says so.
    assert result.keys == table[::-1]
    assert result.pipelines["kept"].kept is not None
    assert [result.keys[row] for row in result.pipelines["kept"].kept] == ["c", "d"]
    np.testing.assert_allclose(result.weights[::-1], [*softmax(values)[:2], 0, 0], atol=1e-4)


def test_a_later_stage_may_hold_a_part_of_the_rows(own_client: Client, run_id: str) -> None:
    run = mounted(own_client, run_id, KEYED)
    run.put(1, "post_reward", rewards([1, 0, 1, 1]), keys=["a", "b", "c", "d"])
    with pytest.raises(DataflexError, match='"x"') as caught:
        run.put(1, STAGE, advantages([1, 2]), keys=["x", "y"])
    assert caught.value.code == "ROWS_CONFLICT"
    run.put(1, STAGE, advantages([1, 2, 3]), keys=["d", "b", "a"])
    result = run.weights(1, timeout=20.0)
    assert result.keys == ["d", "b", "a"]
    np.testing.assert_allclose(result.weights, [0, *softmax([1, 2, 3])[1:]], atol=1e-4)


def test_producers_of_one_part_agree_on_it_though_both_put_first(
    own_client: Client, server: PrivateRedis, run_id: str
) -> None:
    run = mounted(own_client, run_id, KEYED)
    run.put(1, "post_reward", rewards([1, 0, 1, 1]), keys=["a", "b", "c", "d"])
    given = advantages([1, 2, 3])
    with Client(server.url) as other:
        mask = {"response_mask": given["response_mask"]}
        assert other.attach(run_id).put(1, STAGE, mask, keys=["d", "b", "a"]).kind == "NEW"
        with pytest.raises(DataflexError, match="the rows are not among those that the first put of this stage named"):
            run.put(1, STAGE, {"advantages": given["advantages"], **mask}, keys=["d", "b", "c"])


def test_a_wait_longer_than_the_runs_is_refused_at_once(own_client: Client, run_id: str) -> None:
    run = mounted(own_client, run_id, {**REWEIGHT, "max_wait_ms": 2000})
    for work in (
        lambda: run.weights(1, timeout=2.001),
        lambda: run.submit(1, STAGE, advantages([1, 2]), timeout=3.0),
    ):
        with pytest.raises(DataflexError, match="above this run's max_wait_ms of 2000") as caught:
            work()
        assert caught.value.code == "INVALID_INPUT"

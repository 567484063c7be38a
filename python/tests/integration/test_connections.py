"""Connections: what a lost or replaced server does, forks, other processes, and what stays open."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import redis

from dataflex_mq import Client, RedisError, Run
from dataflex_mq.redis.connect import Connections
from dataflex_mq.redis.streams import read_answer
from helpers.fixture_f import SOFTMAX, SOFTMAX_WEIGHTS, fields
from helpers.processes import PrivateRedis, eventually, start_services
from helpers.runs import mounted, weighed

STAGE = "post_advantage"


@pytest.fixture(scope="module")
def own() -> Iterator[PrivateRedis]:
    """A service of this file's own, which a test may break, and leaves whole."""
    server = PrivateRedis()
    running = start_services(server.url)
    yield server
    for one in running:
        one.kill()
    server.close()


def test_a_neutral_step_is_released_though_redis_is_away(own: PrivateRedis, run_id: str) -> None:
    with Client(own.url) as client:
        run = mounted(client, run_id, {**SOFTMAX, "on_unavailable": "neutral", "max_wait_ms": 300})
        own.stop()
        try:
            assert run.put(1, STAGE, fields()).kind == "UNAVAILABLE"
            assert run.weights(1).neutral is not None
            assert run.release(1) == "UNAVAILABLE"
        finally:
            own.start()


def test_a_server_that_comes_back_empty_is_given_everything_again(own: PrivateRedis, run_id: str) -> None:
    with Client(own.url) as client, Client(own.url) as other:
        run = mounted(client, run_id, SOFTMAX)
        joined = other.attach(run_id)
        given = fields()
        joined.put(
            1, STAGE, {name: given[name][:4] for name in ("advantages", "response_mask")}, rows=(0, 4), total_rows=8
        )
        own.stop()
        pending = run.submit(
            1, STAGE, {name: given[name][4:] for name in ("advantages", "response_mask")}, rows=(4, 8), total_rows=8
        )
        assert not pending._sent.done()
        own.start()
        np.testing.assert_allclose(pending.result(60.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)
        np.testing.assert_allclose(joined.weights(1, timeout=20.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)
        # Forgotten while no wait is under way: the heartbeat puts it again.
        run.put(
            2, STAGE, {name: given[name][:4] for name in ("advantages", "response_mask")}, rows=(0, 4), total_rows=8
        )
        own.client().flushall()
        run._beat()
        assert own.client().keys(f"dfx2:*:{run_id}:*:2.0:status")
        assert own.client().exists(f"dfx2:{{0}}:{run_id}:trainer")


def test_an_absent_server_ends_every_call_at_its_deadline(own: PrivateRedis, run_id: str) -> None:
    with Client(own.url) as client:
        run = mounted(client, run_id, SOFTMAX)
        neutral = mounted(client, f"{run_id}-neutral", {**SOFTMAX, "on_unavailable": "neutral"})
        own.stop()
        for work in (
            lambda: run.put(1, STAGE, fields(), timeout=0.5),
            lambda: run.weights(1, timeout=0.5),
            lambda: client.mount("later", SOFTMAX, timeout=0.5),
        ):
            began = time.monotonic()
            with pytest.raises(Exception, match=r"REDIS_UNREACHABLE|Redis has not answered"):
                work()
            assert time.monotonic() - began < 5
        with pytest.raises(RedisError, match=r"within 0\.5 s"):
            run.put(1, STAGE, fields(), timeout=0.5)
        # Neutral: the step trains without weights, and at once.
        assert neutral.put(1, STAGE, fields(), timeout=0.3).kind == "UNAVAILABLE"
        assert neutral.weights(1).neutral is not None
        keyed = neutral.submit(3, STAGE, fields(), keys=[f"k{row}" for row in range(8)], timeout=0.3)
        assert keyed.sent(5.0).kind == "UNAVAILABLE"
        # Of a step that has no weights any more nothing is worth the whole wait again.
        began = time.monotonic()
        assert neutral.put(3, STAGE, fields(), keys=[f"k{row}" for row in range(8)], timeout=20.0).kind == "UNAVAILABLE"
        assert time.monotonic() - began < 5
        late = neutral.submit(2, STAGE, fields(), timeout=0.3)
        assert late.result().neutral is not None
        assert neutral.neutral_steps == 2
        own.start()
        assert neutral.put(3, STAGE, fields(), timeout=20.0).kind == "NEW"


def test_a_full_server_marks_nothing_and_takes_the_same_put_later(own: PrivateRedis, run_id: str) -> None:
    with Client(own.url) as client:
        run = mounted(client, run_id, SOFTMAX)
        control = own.client()
        control.config_set("maxmemory", 1)
        with pytest.raises(RedisError) as caught:
            run.put(1, STAGE, fields())
        assert caught.value.code == "REDIS_FULL"
        assert not control.keys(f"dfx2:*:{run_id}:*:1.0:status")
        control.config_set("maxmemory", 0)
        np.testing.assert_allclose(weighed(run, 1, fields()).weights, SOFTMAX_WEIGHTS, atol=1e-6)


def test_scripts_that_the_server_forgot_are_given_again(client: Client, service: PrivateRedis, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    service.client().script_flush()
    np.testing.assert_allclose(weighed(run, 1, fields()).weights, SOFTMAX_WEIGHTS, atol=1e-6)


def test_a_long_wait_ends_when_it_should(client: Client, run_id: str) -> None:
    """redis-py's own socket timeout would cut a read of more than some seconds, or repeat it for a minute."""
    run = mounted(client, run_id, SOFTMAX)
    began = time.monotonic()
    with pytest.raises(Exception, match="TIMEOUT"):
        run.weights(1, timeout=7.0)
    assert 6.9 < time.monotonic() - began < 9.5


def test_threads_and_sockets_stay_flat(client: Client, service: PrivateRedis, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)

    def once(step: int) -> None:
        run.submit(step, STAGE, fields()).result(20.0)
        run.release(step)

    def mine() -> tuple[int, int]:
        named = [one for one in service.client().client_list() if one["name"] == "dataflex-mq:python"]
        return threading.active_count(), len(named)

    once(0)
    before = mine()
    for step in range(1, 60):
        once(step)
    threads, sockets = mine()
    assert threads <= before[0]
    assert sockets == before[1]


def test_a_forked_process_uses_the_run_and_leaves_the_heartbeat_alone(
    client: Client, service: PrivateRedis, run_id: str
) -> None:
    run = mounted(client, run_id, SOFTMAX)
    run.submit(1, STAGE, fields()).result(20.0)
    child = _fork()
    if child == 0:
        _leave(lambda: _work_in_child(run))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    # The child closed its copy; the run still belongs to this process.
    assert service.client().exists(f"dfx2:{{0}}:{run_id}:trainer")
    np.testing.assert_allclose(run.weights(2, timeout=20.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)


def _fork() -> int:
    import warnings

    with warnings.catch_warnings():
        # Python warns of forks beside threads; that is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _work_in_child(run: Run) -> None:
    np.testing.assert_allclose(run.submit(2, STAGE, fields()).result(20.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)
    assert not run._is_owner
    names = [thread.name for thread in threading.enumerate()]
    assert "dataflex-mq-heartbeat" in names
    run.close()


def _leave(work: Any) -> None:
    """Ends a forked process without the test runner's own endings."""
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def test_a_run_that_is_sent_to_another_process_acts_as_attached(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    copy = pickle.loads(pickle.dumps(run))
    assert isinstance(copy, Run)
    assert copy.handle == run.handle
    with copy:
        assert not copy._is_owner
        np.testing.assert_allclose(weighed(copy, 1, fields()).weights, SOFTMAX_WEIGHTS, atol=1e-6)
    assert run.put(2, STAGE, fields()).kind == "NEW"


def test_a_client_that_nobody_holds_leaves_no_thread(service: PrivateRedis, run_id: str) -> None:
    def beats() -> int:
        return sum(thread.name == "dataflex-mq-heartbeat" for thread in threading.enumerate())

    before = beats()
    run = mounted(Client(service.url), run_id, SOFTMAX)
    assert beats() == before + 1
    run.close()
    del run
    eventually("the thread has ended", lambda: beats() == before)


@pytest.mark.parametrize("protocol", [2, 3, None])
def test_answers_of_either_protocol_are_read(redis_server: PrivateRedis, protocol: int | None) -> None:
    chosen = {} if protocol is None else {"protocol": protocol}
    with redis.Redis(unix_socket_path=redis_server.url.removeprefix("unix://"), **chosen) as other:
        for field, value in (("b", b"\x00\xff"), ("b", b"2")):
            other.xadd(f"shapes-{protocol}", {field: value})
        answer = other.execute_command("XREAD", "COUNT", 9, "STREAMS", f"shapes-{protocol}", "0")
        assert [entry.fields["b"] for entry in read_answer(answer)] == [b"\x00\xff", b"2"]
        assert read_answer(other.execute_command("XREAD", "STREAMS", "nothing", "0")) == []
        one = other.execute_command("XREAD", "COUNT", 1, "STREAMS", f"shapes-{protocol}", "0")
        assert [entry.fields for entry in read_answer(one)] == [{"b": b"\x00\xff"}]


def test_bytes_arrive_as_they_were_sent(redis_server: PrivateRedis) -> None:
    connections = Connections(redis_server.url)
    data = np.arange(6, dtype=np.float32).tobytes()
    connections.command.execute_command("SET", "bytes", data)
    assert connections.command.execute_command("GET", "bytes") == data
    connections.close()

"""A Redis that answers and refuses: named, waited for where time can heal it, covered by `neutral`; a demoted master is left."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dataflex_mq import Client, RedisError
from helpers.fixture_f import SOFTMAX, SOFTMAX_WEIGHTS, fields
from helpers.processes import PrivateRedis, eventually, start_services
from helpers.runs import mounted, weighed

STAGE = "post_advantage"
NEUTRAL = {**SOFTMAX, "on_unavailable": "neutral"}


@pytest.fixture(scope="module")
def own() -> Iterator[PrivateRedis]:
    server = PrivateRedis()
    running = start_services(server.url)
    yield server
    for one in running:
        one.kill()
    server.close()


NOWHERE = ("REPLICAOF", "127.0.0.1", "1")
MASTER = ("REPLICAOF", "NO", "ONE")


@pytest.mark.parametrize(
    ("code", "says", "begin", "end"),
    [
        ("REDIS_REFUSED", "READONLY.*name the master", NOWHERE, MASTER),
        (
            "REDIS_REFUSED",
            "NOREPLICAS.*Start replicas",
            ("CONFIG", "SET", "min-replicas-to-write", "1"),
            ("CONFIG", "SET", "min-replicas-to-write", "0"),
        ),
        (
            "REDIS_DENIED",
            "lacks a right.*make-secrets",
            ("ACL", "SETUSER", "default", "-@write"),
            ("ACL", "SETUSER", "default", "+@all"),
        ),
        ("REDIS_FULL", "maxmemory", ("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")),
    ],
)
def test_a_refusal_has_its_name_is_covered_and_waited_for(
    own: PrivateRedis, run_id: str, code: str, says: str, begin: tuple[str, ...], end: tuple[str, ...]
) -> None:
    control = own.client()
    with Client(own.url) as client:
        run = mounted(client, run_id, SOFTMAX)
        neutral = mounted(client, f"{run_id}-neutral", NEUTRAL)
        control.execute_command(*begin)
        try:
            with pytest.raises(RedisError, match=says) as caught:
                run.put(1, STAGE, fields(), timeout=0.5)
            assert caught.value.code == code
            assert neutral.put(1, STAGE, fields(), timeout=0.3).kind == "UNAVAILABLE"
            result = neutral.weights(1, timeout=0.5)
            assert result.neutral is not None
            assert result.neutral.code == code
            if code == "REDIS_REFUSED":
                heal = threading.Timer(0.5, lambda: control.execute_command(*end))
                heal.start()
                assert run.put(2, STAGE, fields(), timeout=30.0).kind == "NEW"
                heal.join()
        finally:
            control.execute_command(*end)
        np.testing.assert_allclose(weighed(run, 3, fields()).weights, SOFTMAX_WEIGHTS, atol=1e-6)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_demoted_master_is_left_for_the_new_one(tmp_path: Path, run_id: str) -> None:
    """The address leads to the new master, and every old connection stays open to the old one."""
    old, new = PrivateRedis(free_port()), PrivateRedis(free_port())
    address = tmp_path / "redis.sock"
    address.symlink_to(old.url.removeprefix("unix://"))
    running = start_services(f"unix://{address}")
    try:
        replica = new.client()
        replica.execute_command("REPLICAOF", "127.0.0.1", str(old.port))
        eventually("the replica follows", lambda: replica.info("replication").get("master_link_status") == "up")
        with Client(f"unix://{address}") as client, Client(f"unix://{address}") as other:
            run = mounted(client, run_id, SOFTMAX)
            np.testing.assert_allclose(weighed(run, 1, fields()).weights, SOFTMAX_WEIGHTS, atol=1e-6)
            joined = other.attach(run_id)
            replica.execute_command("REPLICAOF", "NO", "ONE")
            old.client().execute_command("REPLICAOF", "127.0.0.1", str(new.port))
            os.unlink(address)
            address.symlink_to(new.url.removeprefix("unix://"))
            given = fields()
            half = {name: given[name][:4] for name in ("advantages", "response_mask")}
            rest = {name: given[name][4:] for name in ("advantages", "response_mask")}
            joined.put(2, STAGE, half, rows=(0, 4), total_rows=8, timeout=20.0)
            run.put(2, STAGE, rest, rows=(4, 8), total_rows=8, timeout=20.0)
            np.testing.assert_allclose(run.weights(2, timeout=30.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)
            assert run.release(2) in ("BURIED", "PENDING")
    finally:
        for one in running:
            one.kill()
        old.close()
        new.close()

"""A run under its own user of Redis, as `make-secrets.sh --run` writes it: a whole step, and nobody else's keys."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import redis

from dataflex_mq import Client, DataflexError
from dataflex_mq.redis.keys import encode_run, run_keys
from helpers.fixture_f import SOFTMAX, SOFTMAX_WEIGHTS, fields
from helpers.paths import REPOSITORY
from helpers.processes import Service, end_with_parent, eventually
from helpers.runs import mounted, weighed

MINE = "exp:7 ü"


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Addresses of a Redis, broker and worker that run with the users of config/redis."""
    folder = tmp_path_factory.mktemp("acl")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script, written = REPOSITORY / "config" / "redis" / "make-secrets.sh", folder / "secrets"
    for run in ([], ["--run", MINE], ["--run", "theirs"]):
        subprocess.run(["sh", str(script), *run, str(written), f"127.0.0.1:{port}"], check=True, capture_output=True)
    options = f"--port {port} --bind 127.0.0.1 --dir {folder} --maxmemory-policy noeviction"
    server = subprocess.Popen(
        ["redis-server", *options.split(), "--save", "", "--aclfile", str(written / "redis_users")],
        stdout=subprocess.DEVNULL,
        preexec_fn=end_with_parent,
    )
    services: list[Service] = []
    try:
        eventually("Redis answers", lambda: _answers(port))
        for role in ("broker", "worker"):
            services.append(Service(role, (written / f"redis_{role}").read_text().strip()).wait_until_ready())
        yield written
    finally:
        for one in services:
            one.close()
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _address(secrets: Path, run: str) -> str:
    return (secrets / f"redis_run_{encode_run(run)}").read_text().strip()


def test_a_run_trains_under_its_own_user(secrets: Path) -> None:
    with Client(_address(secrets, MINE)) as client:
        run = mounted(client, MINE, SOFTMAX)
        for step in (1, 2):
            np.testing.assert_allclose(weighed(run, step, fields()).weights, SOFTMAX_WEIGHTS, atol=1e-6)
            run.release(step)
        with pytest.raises(DataflexError) as caught:
            run.weights(9, timeout=0.3)
        assert caught.value.code == "TIMEOUT"
    with redis.Redis.from_url((secrets / "redis_admin").read_text().strip()) as admin:
        assert admin.execute_command("ACL", "LOG") == []


def test_another_runs_keys_are_refused(secrets: Path) -> None:
    with Client(_address(secrets, "theirs")) as owner, Client(_address(secrets, MINE)) as thief:
        run = mounted(owner, "theirs", SOFTMAX)
        for attempt in (lambda: thief.attach("theirs"), lambda: mounted(thief, "theirs", SOFTMAX, takeover=True)):
            with pytest.raises(DataflexError, match=r"(?i)permission"):
                attempt()
        np.testing.assert_allclose(weighed(run, 1, fields()).weights, SOFTMAX_WEIGHTS, atol=1e-6)
    with redis.Redis.from_url(_address(secrets, MINE)) as mine, pytest.raises(redis.exceptions.NoPermissionError):
        mine.hgetall(run_keys("theirs").mount)


@pytest.mark.parametrize("word", ["history", "history-rows", "mount"])
def test_no_run_has_the_keys_of_other_runs_histories(word: str) -> None:
    assert not run_keys(word).mount.startswith(("dfx2:{0}:history:", "dfx2:{0}:history-rows:"))

"""The real service: a private Redis on a socket, and brokers and workers of the built package, each in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import redis

from .paths import DIST

T = TypeVar("T")


def eventually(what: str, look: Callable[[], T | None], seconds: float = 20.0) -> T:
    """The first answer that is true; fails naming `what` after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.01)


class PrivateRedis:
    """Starts empty, and again empty after `stop`: nothing is kept."""

    def __init__(self, port: int = 0) -> None:
        """port: on 127.0.0.1, for replicas; default none."""
        self.port = port
        self._folder = Path(tempfile.mkdtemp(prefix="dfx-py-", dir="/tmp"))
        self._socket = self._folder / "redis.sock"
        self.url = f"unix://{self._socket}"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        server = shutil.which("redis-server") or shutil.which("valkey-server")
        assert server is not None, "no Redis server is installed: apt-get install -y redis-server"
        where = f"--port {self.port} --bind 127.0.0.1 --unixsocket {self._socket} --dir {self._folder}"
        settings = f"{where} --appendonly no --maxmemory-policy noeviction"
        self._process = subprocess.Popen(
            [server, *settings.split(), "--save", ""], stdout=subprocess.DEVNULL, preexec_fn=end_with_parent
        )
        eventually("Redis answers", self._answers)

    def _answers(self) -> bool:
        try:
            # A socket that is not there yet is left open by some versions of redis-py; this one is ours to close.
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(str(self._socket))
            return bool(self.client().ping())
        except (OSError, redis.exceptions.ConnectionError):
            return False

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self._socket), protocol=2)

    def stop(self) -> None:
        _stop(self._process, signal.SIGKILL)
        self._process = None
        self._socket.unlink(missing_ok=True)

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


class Service:
    """A broker or a worker, on its way up."""

    def __init__(self, role: str, url: str, *options: str) -> None:
        main = DIST / "src" / "commands" / "cli" / "main.js"
        assert main.exists(), f"{main} is missing: npm run build"
        command = ["node", str(main), "--json", role, "--redis", url, "--http", "127.0.0.1:0", *options]
        env = {**os.environ, "DFX_LOG": "error"}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, env=env, preexec_fn=end_with_parent)
        self._role = role

    def wait_until_ready(self) -> Service:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the {self._role} ended at start ({self._process.wait()})"
        assert json.loads(line)[0]["role"] == self._role
        return self

    def kill(self) -> None:
        _stop(self._process, signal.SIGKILL)

    def close(self) -> None:
        _stop(self._process, signal.SIGTERM)


def start_services(url: str) -> tuple[Service, Service]:
    """A broker and a worker, both ready."""
    broker, worker = Service("broker", url), Service("worker", url)
    return broker.wait_until_ready(), worker.wait_until_ready()


def end_with_parent() -> None:
    """Tests may be killed; their servers must not survive them (Linux; elsewhere they end when told to)."""
    if os.uname().sysname == "Linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _stop(process: subprocess.Popen[bytes] | None, how: signal.Signals) -> None:
    if process is None:
        return
    if process.poll() is None:
        process.send_signal(how)
        process.wait(timeout=40)
    if process.stdout is not None:
        process.stdout.close()

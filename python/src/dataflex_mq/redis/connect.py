"""
Connections. redis-py's own: timeouts and retries of ours, since its defaults differ between versions and cut blocking reads. Two kinds:
`command` answers at once; `blocking` waits in slices, each a little shorter than its socket's patience.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from ..errors import DataflexError, error
from .address import parse_address, redact
from .refusals import is_elsewhere, typed_refusal
from .scripts import ScriptCall

# A connection that has not answered for this long is taken to be half-open and is replaced.
SOCKET_SECONDS = 6.0
# A blocking read waits this long on the server; after each one the step's state is checked.
SLICE_SECONDS = 1.0
# First pause after a lost connection; it doubles up to the maximum.
RETRY_SECONDS = 0.025
MAX_RETRY_SECONDS = 0.5

# Minimum time between reconnects away from a server that is not a master: soon after a failover its address leads to the new one.
REOPEN_SECONDS = 0.5

# Faults of the server or the connection, which are worth a retry.
LOST = (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, OSError)
ANY = (*LOST, redis.exceptions.RedisError)

T = TypeVar("T")
Command = Sequence[Any]


class Connections:
    """What one client needs of Redis, for any number of threads. In a forked process redis-py opens connections of its own."""

    def __init__(self, url: str, connect_seconds: float = 5.0) -> None:
        self.url = url
        self._connect_seconds = connect_seconds
        self.command = self._open(SOCKET_SECONDS)
        self.blocking = self._open(SLICE_SECONDS + 2.0)
        self._lock = threading.Lock()
        self._reopened = -REOPEN_SECONDS

    def _open(self, patience: float) -> redis.Redis:
        given = parse_address(self.url)
        kind: Any = redis.Connection
        if "path" in given:
            kind = redis.UnixDomainSocketConnection
        elif given["tls"]:
            kind = redis.SSLConnection
        tcp: dict[str, Any] = {} if "path" in given else {"socket_keepalive": True}
        pool = redis.ConnectionPool(
            connection_class=kind,
            **{key: value for key, value in given.items() if key != "tls"},
            **tcp,
            protocol=2,
            decode_responses=False,
            socket_timeout=patience,
            socket_connect_timeout=min(patience, self._connect_seconds),
            retry=Retry(NoBackoff(), 0),
            retry_on_timeout=False,
            health_check_interval=0,
            client_name="dataflex-mq:python",
        )
        return redis.Redis(connection_pool=pool)

    def ping(self) -> None:
        """Raises REDIS_UNREACHABLE with the address and the reason."""
        self.call(self._connect_seconds, "connect", lambda: self.execute("PING"))

    def call(self, seconds: float, what: str, work: Callable[[], T], alive: Callable[[], None] | None = None) -> T:
        """
        Retries `work` while the connection is lost, until `seconds` are over (every write is idempotent, so that after a lost answer the
        same command is repeated), and while Redis refuses it for a reason that may pass. Raises REDIS_UNREACHABLE naming
        what was attempted, REDIS_REFUSED, REDIS_FULL, REDIS_DENIED.
        """
        end = time.monotonic() + seconds
        pause = RETRY_SECONDS
        while True:
            if alive:
                alive()
            try:
                return work()
            except ANY as cause:
                refused = self.refused(cause, what)
                left = end - time.monotonic()
                if left <= 0 or (refused is not None and not heals(refused)):
                    raise (refused or self.unreachable(what, seconds, cause)) from cause
                time.sleep(min(pause, max(left, 0)))
                pause = min(pause * 2, MAX_RETRY_SECONDS)

    def refused(self, cause: BaseException, what: str) -> DataflexError | None:
        """
        Why Redis has refused `what`, typed; None where the connection was lost. If the server is not a master, every connection is
        reopened, to the current master.
        """
        if is_elsewhere(cause):
            self._reopen()
        return typed(cause, what)

    def _reopen(self) -> None:
        with self._lock:
            if time.monotonic() - self._reopened < REOPEN_SECONDS:
                return
            self._reopened = time.monotonic()
            old = (self.command, self.blocking)
            self.command, self.blocking = self._open(SOCKET_SECONDS), self._open(SLICE_SECONDS + 2.0)
        for client in old:
            # Those in use end with what they are used for.
            client.connection_pool.disconnect(inuse_connections=False)

    def unreachable(self, what: str, seconds: float, cause: BaseException) -> DataflexError:
        where = redact(self.url)
        message = (
            f"{what}: cannot reach Redis at {where} within {seconds:g} s ({cause}). Is it up? Try again once it answers"
        )
        return error("REDIS_UNREACHABLE", message, {"url": where})

    def execute(self, *command: Any) -> Any:
        """One command with an immediate answer. Raises redis-py's errors."""
        return self.command.execute_command(*command)

    def pipeline(self, commands: Sequence[Command]) -> list[Any]:
        """Sends commands together; an error is returned in the place of its answer. Raises what `LOST` names."""
        pipe = self.command.pipeline(transaction=False)
        for command in commands:
            pipe.execute_command(*command)
        return pipe.execute(raise_on_error=False)

    def goodbye(self, calls: Sequence[ScriptCall], seconds: float) -> None:
        """Runs scripts whose answers nobody needs, together, over a connection that waits no longer. Raises what `ANY` names."""
        client = self._open(seconds)
        try:
            pipe = client.pipeline(transaction=False)
            for call in calls:
                pipe.execute_command(*call.by_source())
            pipe.execute(raise_on_error=False)
        finally:
            client.connection_pool.disconnect()

    def run_script(self, call: ScriptCall) -> tuple[str, list[Any]]:
        """The word that the script answers, and what follows it."""
        return self.script_answer(call, self.pipeline([call.by_hash()])[0])

    def script_answer(self, call: ScriptCall, answer: Any) -> tuple[str, list[Any]]:
        """Reads what EVALSHA answered; a server that does not know the script is sent its source."""
        if isinstance(answer, redis.exceptions.NoScriptError):
            answer = self.execute(*call.by_source())
        if isinstance(answer, Exception):
            raise answer
        return text(answer[0]), list(answer[1:])

    def now_ms(self) -> int:
        """The server's clock: deadlines and incarnations live on it, never on a host's."""
        answer = self.execute("TIME")
        return int(answer[0]) * 1000 + int(answer[1]) // 1000

    def close(self) -> None:
        for client in (self.command, self.blocking):
            client.close()
            client.connection_pool.disconnect()


def heals(refused: DataflexError) -> bool:
    """Whether it may pass."""
    return refused.code == "REDIS_REFUSED"


def typed(cause: BaseException, what: str) -> DataflexError | None:
    """An error of Redis that is no lost connection, typed."""
    refusal = typed_refusal(cause, what)
    if refusal is not None:
        return refusal
    message = str(cause)
    # Wrong credentials arrive as a connection error, but trying again does not help.
    if isinstance(cause, (redis.exceptions.AuthenticationError, redis.exceptions.AuthorizationError)):
        return error(
            "REDIS_UNREACHABLE", f"Redis refuses the connection: {message}. Fix the address's user or password"
        )
    if isinstance(cause, redis.exceptions.InvalidResponse):
        return error("REDIS_UNREACHABLE", f"what answers there is no Redis: {message}. Fix the address")
    return None if isinstance(cause, LOST) else error("INTERNAL", f"{what}: Redis answered with an error: {message}")


def text(answer: Any) -> str:
    """An element of an answer that holds text or a number; what is no UTF-8 becomes marks that match nothing."""
    return answer.decode(errors="replace") if isinstance(answer, bytes) else str(answer)

"""A trainer's connection to the service."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from ..redis.address import address_of
from ..redis.connect import Connections
from ..sentences import error_of
from .background import Sender
from .guard import check_run_id, seconds_of
from .mount import read_mounted, request_mount
from .mounted import close_runs
from .run import Run

# One round trip: if it takes longer, Redis counts as unreachable.
ATTACH_SECONDS = 10.0


class Client:
    """Runs mounted or attached over one set of connections, for any number of threads. Errors everywhere are `DataflexError`s."""

    def __init__(self, redis_url: str | None = None, *, connect_timeout: float = 5.0) -> None:
        """
        redis_url: `redis://…`, `rediss://…` or `unix:///…`; default the environment's DFX_REDIS_URL, then REDIS_URL. connect_timeout:
        seconds. Raises USAGE without an address, REDIS_UNREACHABLE.
        """
        self._connections = Connections(address_of(redis_url), seconds_of(connect_timeout, "connect_timeout"))
        self._sender = Sender()
        self._runs: weakref.WeakSet[Run] = weakref.WeakSet()
        self._closed = False
        self._connections.ping()

    def mount(
        self,
        run_id: str,
        dataflex: Any,
        *,
        adv_estimator: Any = None,
        provides: Sequence[str] | None = None,
        group_size: int | None = None,
        trainer: Mapping[str, Any] | None = None,
        takeover: bool = False,
        timeout: float = 30.0,
        mount_id: str | None = None,
    ) -> Run:
        """
        Takes a run; waits for a broker and a worker until `timeout` (seconds).

        run_id: names the run; a second living trainer under the same name is refused. dataflex: the run's `dataflex:` block.
        adv_estimator: verl's name of the advantage estimator, needed when a scorer needs groups. provides: fields that this trainer can
        send, default any. group_size: responses a prompt gets, lets incomplete groups be found. trainer: settings of the trainer that
        decide whether the weights can have their effect, in verl's words (docs/protocol.md section 5.3), each may be left out. takeover:
        takes the run over from a trainer that still lives; that one is fenced. mount_id: the same id gets the same answer, default a new
        one.

        Raises CONFIG with every problem in `details["problems"]`; RUN_BUSY, PROTOCOL_VERSION, NO_BROKER, NO_WORKER, INVALID_INPUT,
        REDIS_UNREACHABLE, CLOSED.
        """
        self._assert_open()
        handle = request_mount(
            self._connections,
            run_id,
            dataflex,
            adv_estimator=adv_estimator,
            provides=provides,
            group_size=group_size,
            trainer=trainer,
            takeover=takeover,
            timeout=timeout,
            mount_id=mount_id,
        )
        return self._keep(Run(self._connections, handle, owner=True, sender=self._sender))

    def attach(self, run_id: str) -> Run:
        """
        Joins a run that another producer mounted (another rank): does not fence the other producers and does not keep the run alive.
        Raises NOT_MOUNTED, INVALID_INPUT, REDIS_UNREACHABLE, CLOSED.
        """
        self._assert_open()
        check_run_id(run_id)
        what = f'attach to "{run_id}"'
        handle = self._connections.call(ATTACH_SECONDS, what, lambda: read_mounted(self._connections, run_id))
        return self._keep(Run(self._connections, handle, owner=False, sender=self._sender))

    def close(self) -> None:
        """Closes its runs and every connection."""
        if self._closed:
            return
        self._closed = True
        self._sender.close()
        close_runs(self._connections, list(self._runs))
        self._connections.close()

    def _keep(self, run: Run) -> Run:
        self._runs.add(run)
        return run

    def _assert_open(self) -> None:
        if self._closed:
            raise error_of("CLOSED.client")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

"""Keeps a mounted run alive, and refuses its use once it was closed or fenced."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..errors import DataflexError
from ..redis.connect import ANY, Connections
from ..redis.keys import HEARTBEAT_MS
from ..redis.mounts import Handle, heartbeat, restore_run, trainer_beat
from ..sentences import error_of
from .background import Heartbeat
from .guard import seconds_of
from .open_steps import OpenSteps
from .released_steps import ReleasedSteps

log = logging.getLogger("dataflex_mq")

# How long a closing run tries to sign off; if it cannot, the run stays busy until its heartbeat lapses.
SIGN_OFF_SECONDS = 2.0

T = TypeVar("T")


class MountedRun:
    """
    In a forked process, or sent to another one (pickled), a run acts as attached: it puts and waits, and leaves the heartbeat to the
    process that mounted it.
    """

    def __init__(self, connections: Connections, handle: Handle, owner: bool) -> None:
        self.handle = handle
        self._connections = connections
        self._steps = OpenSteps(connections, handle)
        self._released = ReleasedSteps(connections, handle)
        self._owner_pid = os.getpid() if owner else None
        self._fenced = False
        self._closed = False
        self._heartbeat = Heartbeat(self, "_beat", HEARTBEAT_MS / 1000)
        self._heartbeat.ensure()

    def close(self) -> None:
        """Ends the heartbeat and signs off, so that the run may be mounted again at once. Open steps stay until their TTL."""
        close_runs(self._connections, [self])

    @property
    def _is_owner(self) -> bool:
        return self._owner_pid == os.getpid()

    def _beat(self) -> None:
        """Keeps the run's mount and its open steps alive; an attached producer looks after its own steps alone."""
        try:
            if self._fenced or self._closed:
                return
            if self._is_owner:
                word = trainer_beat(self._connections, self.handle)
                if word == "FENCED" or (word == "NOT_MOUNTED" and not restore_run(self._connections, self.handle)):
                    self._fenced = True
            self._steps.tend(self._is_owner)
            if self._is_owner:
                self._released.tend()
            else:
                self._steps.forget_settled()
        except (*ANY, DataflexError) as caught:
            self._connections.refused(caught, "heartbeat")
            # The next beat is in three seconds; a lasting fault is raised by the next put or wait.
            log.debug("heartbeat of run %s: %s", self.handle["run"], caught)
        except ValueError:
            # redis-py reads on from a connection that closing has taken away.
            if not self._closed:
                raise

    def _assert_usable(self) -> None:
        run = self.handle["run"]
        if self._closed:
            raise error_of("CLOSED.run", run=run)
        if self._fenced:
            raise error_of("FENCED", run=run, incarnation=self.handle["incarnation"])
        # A forked process has not started the thread yet.
        self._heartbeat.ensure()

    def _call(self, seconds: float, what: str, work: Callable[[], T]) -> T:
        self._assert_usable()
        return self._connections.call(seconds, what, work)

    def _deadline(self, timeout: float | None) -> float:
        return self.handle["max_wait_ms"] / 1000 if timeout is None else seconds_of(timeout, "timeout")

    def __reduce__(self) -> tuple[Any, ...]:
        return _attach_again, (type(self), self._connections.url, self.handle)


def close_runs(connections: Connections, runs: Sequence[MountedRun]) -> None:
    """Ends their heartbeats and signs all of them off at once: a silent server delays this by seconds, however many there are."""
    closing = [run for run in runs if not run._closed]
    for run in closing:
        run._closed = True
    end = time.monotonic() + SIGN_OFF_SECONDS
    for wait in [run._heartbeat.stop() for run in closing]:
        wait(end - time.monotonic())
    leaving = [heartbeat(run.handle, leave=True) for run in closing if run._is_owner and not run._fenced]
    if not leaving:
        return
    try:
        connections.goodbye(leaving, SIGN_OFF_SECONDS)
    except ANY as caught:
        # Harmless: the runs then stay busy until their heartbeats lapse.
        log.debug("%d runs could not sign off: %s", len(leaving), caught)


def _attach_again(kind: Callable[..., MountedRun], url: str, handle: Handle) -> MountedRun:
    return kind(Connections(url), handle, owner=False)

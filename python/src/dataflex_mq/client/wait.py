"""Waits until every expected pipeline has settled, one has failed, or the deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import DataflexError
from ..redis.connect import ANY, RETRY_SECONDS, SLICE_SECONDS, Connections, text
from ..redis.keys import StepKeys, run_keys
from ..redis.mounts import Handle
from ..redis.settle import settle_timeout
from ..sentences import error_of, sentence
from .diagnose import Pipeline, diagnose
from .outcomes import Outcome, attempt_of, load_outcome, put_hashes, read_outcomes

# How long the diagnosis may take after the deadline.
GRACE_SECONDS = 2.0


@dataclass
class StepWait:
    connections: Connections
    handle: Handle
    at: str
    expected: Sequence[Pipeline]
    timeout: float
    # Puts again what Redis has forgotten of the step; returns whether anything was missing.
    restore: Callable[[], bool]
    # Whether an outcome (its attempt, the hashes of its puts) belongs to what this producer has put.
    accepts: Callable[[Pipeline, int, frozenset[str] | None], bool]
    # Raises when the run was closed or fenced meanwhile.
    alive: Callable[[], None]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    last_id: str = "0"

    def collect(self) -> dict[str, Outcome]:
        """
        Outcomes by pipeline: all, or at least one failure. Raises TIMEOUT with a diagnosis, FENCED, RELEASED, REDIS_UNREACHABLE, CLOSED.
        """
        end = time.monotonic() + self.timeout
        while self.undecided():
            self.alive()
            left = end - time.monotonic()
            if left <= 0:
                self._give_up()
                break
            try:
                slice_ms = max(1, int(min(SLICE_SECONDS, left) * 1000))
                if not self.read(slice_ms) and self._restored():
                    # After a server has lost the step, its stream starts with new ids: read it from the start.
                    self.last_id = "0"
            except ANY as cause:
                # A lost connection, and a refusal that may pass, are retried until the deadline.
                refused = self.connections.refused(cause, "wait")
                if refused is not None and not refused.retryable:
                    raise refused from cause
                time.sleep(max(0.0, min(RETRY_SECONDS * 2, end - time.monotonic())))
                self._restored_later()
            except DataflexError as caught:
                if not caught.retryable:
                    raise
                time.sleep(max(0.0, min(RETRY_SECONDS * 2, end - time.monotonic())))
        return self.outcomes

    def undecided(self) -> bool:
        """One failure decides the step; the other pipelines are not waited for."""
        failed = any(outcome.header["kind"] == "failure" for outcome in self.outcomes.values())
        return not failed and len(self.missing()) > 0

    def missing(self) -> list[Pipeline]:
        return [pipeline for pipeline in self.expected if pipeline["name"] not in self.outcomes]

    def read(self, block_ms: int) -> bool:
        """Takes in what the step's stream has after the last entry seen; answers whether there was anything."""
        entries = read_outcomes(self.connections, self._keys.out, self.last_id, block_ms)
        expected = {pipeline["name"]: pipeline for pipeline in self.expected}
        for entry in entries:
            name = text(entry.fields.get("pipeline", b""))
            if name in expected and self.accepts(expected[name], attempt_of(entry), put_hashes(entry)):
                outcome = load_outcome(self.connections, self._keys, entry)
                attempt = outcome.header["attempt"]
                # A replaced put voids every outcome of an earlier attempt.
                self.outcomes = {k: o for k, o in self.outcomes.items() if o.header["attempt"] >= attempt}
                self.outcomes[name] = outcome
            self.last_id = entry.id
        return len(entries) > 0

    @property
    def _keys(self) -> StepKeys:
        return run_keys(self.handle["run"]).step(self.handle["incarnation"], self.at)

    def _restored(self) -> bool:
        """Puts the step again if the server has lost it. Raises FENCED, RELEASED, and what a put raises."""
        command = self.connections.execute
        run, incarnation = self.handle["run"], self.handle["incarnation"]
        owner = command("HGET", run_keys(run).mount, "inc")
        if owner and int(owner) > incarnation:
            raise error_of("FENCED", run=run, incarnation=incarnation)
        if command("HGET", self._keys.status, "released"):
            raise error_of("RELEASED", step=self.at)
        return self.restore()

    def _restored_later(self) -> None:
        try:
            if self._restored():
                self.last_id = "0"
        except ANY as cause:
            refused = self.connections.refused(cause, "wait")
            if refused is not None and not refused.retryable:
                raise refused from cause
        except DataflexError as caught:
            if not caught.retryable:
                raise

    def _give_up(self) -> None:
        """The deadline settles the step too, so that no worker goes on with it; an outcome that came first is still taken."""
        late = self.missing()
        try:
            why = self.connections.call(GRACE_SECONDS, "diagnosis", lambda: self._settle(late))
        except DataflexError as caught:
            silent = caught.code == "REDIS_UNREACHABLE"
            why = [sentence("TIMEOUT.silent") if silent else caught.message]
        left = [pipeline["name"] for pipeline in self.missing()]
        if not self.undecided() or not left:
            return
        names = ", ".join(f'"{name}"' for name in left)
        raise error_of(
            "TIMEOUT",
            {"step": self.at, "pipelines": left, "why": why},
            names=names,
            step=self.at,
            time=f"{self.timeout:.3g} s",
            why="; ".join(why),
        )

    def _settle(self, late: Sequence[dict[str, Any]]) -> list[str]:
        why = diagnose(self.connections, self.handle, self.at, late)
        attempt = int(self.connections.execute("HGET", self._keys.status, "attempt") or 1)
        message = sentence("TIMEOUT.settled", time=f"{self.timeout:.3g} s", why="; ".join(why))
        words = [settle_timeout(self.connections, self.handle, self.at, one, attempt, message) for one in late]
        if "SETTLED" in words:
            ours = self.outcomes
            self.read(0)
            # The failure that this client has just written is not an outcome to return.
            self.outcomes = {
                name: outcome
                for name, outcome in self.outcomes.items()
                if name in ours or outcome.header.get("producer", {}).get("worker") != "client"
            }
        return why

"""What one producer keeps of the steps that it has put and that are not released yet."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from ..columns.gather_mask import gather_mask
from ..columns.tensor import MaskColumn
from ..protocol.codec import unpack
from ..redis.connect import Connections
from ..redis.keys import run_keys
from ..redis.mounts import Handle
from .combined_report import combined_report
from .compose import Composed
from .locks import ProcessLock
from .prepare import PreparedPut
from .put import Commit, PutReceipt, send_put
from .rows import KeyTable, key_table


@dataclass(slots=True)
class OpenStep:
    # Enough to put the step again if Redis has forgotten it; none once it has settled.
    puts: list[tuple[PreparedPut, Commit]] = field(default_factory=list)
    tables: dict[str, KeyTable] = field(default_factory=dict)
    attempt: int = 1
    rows: int = 0
    waited_ms: float = 0.0
    # The composition that the loss got last; its statistics are reported when the step is released.
    composed: Composed | None = None
    touched: float = field(default_factory=time.monotonic)


class OpenSteps:
    def __init__(self, connections: Connections, handle: Handle) -> None:
        self._connections = connections
        self._handle = handle
        self._lock = ProcessLock()
        self._steps: dict[str, OpenStep] = {}

    def attempt(self, at: str) -> int:
        with self._lock:
            return self._steps[at].attempt if at in self._steps else 1

    def of(self, at: str) -> OpenStep | None:
        """What is kept of the step; None when this producer has put nothing of it."""
        with self._lock:
            return self._steps.get(at)

    def report(self, at: str) -> dict[str, Any] | None:
        """What a release reports; None when this producer has put nothing of the step."""
        step = self.of(at)
        if step is None:
            return None
        combined = None if step.composed is None else combined_report(step.composed)
        return {"wait_ms": step.waited_ms, **({} if combined is None else {"combined": combined})}

    def keep(self, at: str, put: PreparedPut, commit: Commit, receipt: PutReceipt) -> None:
        with self._lock:
            step = self._steps.setdefault(at, OpenStep())
            # The same rows and fields of a stage have the same id: the newest counts.
            step.puts = [kept for kept in step.puts if kept[0].header["id"] != put.header["id"]]
            step.puts.append((put, replace(commit, replace=False)))
            if commit.table is not None:
                step.tables[put.header["stage"]] = commit.table
            step.attempt = receipt.attempt
            step.rows = put.header["total_rows"]
            step.touched = time.monotonic()

    def settled(self, at: str, waited_ms: float, everything: bool) -> None:
        """A wait has ended with every outcome: nothing needs to be put again."""
        with self._lock:
            if at in self._steps:
                self._steps[at].waited_ms += waited_ms
                if everything:
                    self._steps[at].puts = []

    def forget(self, at: str) -> None:
        with self._lock:
            self._steps.pop(at, None)

    def mask_of(self, at: str, stage: str, ranges: list[int]) -> MaskColumn | None:
        """The mask of these rows, when earlier puts brought it."""
        with self._lock:
            puts = [put for put, _ in self._steps[at].puts] if at in self._steps else []
        pieces = [
            (put.layout.mask, put.ranges)
            for put in puts
            if put.header["stage"] == stage and put.layout.mask is not None
        ]
        return gather_mask(pieces, ranges)

    def table(self, at: str, stage: str, fresh: bool) -> KeyTable | None:
        """The row table that the stage's first put fixed, if it had keys. `fresh`: as Redis has it now."""
        with self._lock:
            known = self._steps[at].tables.get(stage) if at in self._steps else None
        if known is not None and not fresh:
            return known
        status = run_keys(self._handle["run"]).step(self._handle["incarnation"], at).status
        blob = self._connections.execute("HGET", status, f"keys:{stage}")
        return key_table(unpack(blob)) if blob else None

    def restore(self, at: str) -> bool:
        """
        Puts again what Redis does not know of the step. One by one: another producer may have put its part since Redis lost all. Answers
        whether anything was missing.
        """
        with self._lock:
            puts = list(self._steps[at].puts) if at in self._steps else []
        if not puts:
            return False
        status = run_keys(self._handle["run"]).step(self._handle["incarnation"], at).status
        names = [f"hash:{put.header['stage']}:{put.header['id']}" for put, _ in puts]
        released, *known = self._connections.execute("HMGET", status, "released", *names)
        lost = [] if released else [one for one, found in zip(puts, known, strict=True) if found is None]
        for put, commit in lost:
            send_put(self._connections, self._handle, put, commit)
        return len(lost) > 0

    def tend(self, forget_settled: bool) -> None:
        """
        Maintains the steps that are not waited for: puts again what Redis has forgotten, and drops the puts of steps that have settled,
        were released, or are past their deadline. `forget_settled`: this producer releases nothing itself, so a step without a put is done.
        """
        keys = run_keys(self._handle["run"])
        with self._lock:
            steps = list(self._steps.items())
        for at, step in steps:
            if step.puts:
                status = keys.step(self._handle["incarnation"], at).status
                names = [f"settled:{pipeline['name']}" for pipeline in self._handle["pipelines"]]
                answer = self._connections.execute("HMGET", status, "released", *names)
                late = (time.monotonic() - step.touched) * 1000 > self._handle["max_wait_ms"]
                if answer[0] or late or all(word is not None for word in answer[1:]):
                    step.puts = []
                else:
                    self.restore(at)
            if forget_settled and not step.puts:
                self.forget(at)

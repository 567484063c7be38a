"""What one producer keeps of the steps that it has put and that are not released yet."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..columns.gather_mask import gather_mask
from ..columns.row_ranges import count_rows, from_bitmap, to_bitmap
from ..columns.tensor import MaskColumn
from ..protocol.codec import unpack
from ..protocol.stages import table_of
from ..redis.connect import Connections
from ..redis.keys import HASH_DIGITS, StepKeys, run_keys
from ..redis.mounts import Handle
from ..redis.stored_puts import read_stored_puts
from .combined_report import combined_report
from .compose import Composed
from .kept_puts import KeptPut, KeptPuts
from .locks import ProcessLock
from .outcomes import PipelineResult
from .plan_rows import FixedRows, PutRows
from .prepare import PreparedPut
from .put import Commit, PutReceipt, send_put
from .rows import KeyTable, key_table


@dataclass(slots=True)
class OpenStep:
    """
    tables: keys of rows, by row table. spans: rows of a stage that is about a part of its table. orders: by stage, the keys in the order of
    this producer's last put that named every row of it. attempt: the highest that any receipt named. rows: those of the last put's stage.
    composed: what went to the loss last. read: what the last wait for every pipeline gave, and of which attempt. touched:
    time.monotonic() of the last put.
    """

    tables: dict[str, KeyTable] = field(default_factory=dict)
    spans: dict[str, list[int]] = field(default_factory=dict)
    orders: dict[str, list[str]] = field(default_factory=dict)
    attempt: int = 1
    rows: int = 0
    waited_ms: float = 0.0
    composed: Composed | None = None
    read: tuple[int, list[PipelineResult]] | None = None
    touched: float = field(default_factory=time.monotonic)


class OpenSteps:
    def __init__(self, connections: Connections, handle: Handle) -> None:
        self._connections = connections
        self._handle = handle
        self._lock = ProcessLock()
        self._steps: dict[str, OpenStep] = {}
        self._puts = KeptPuts()

    @property
    def copies_dropped(self) -> int:
        return self._puts.dropped

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

    def keep(self, at: str, put: PreparedPut, rows: PutRows, keys: list[str] | None, receipt: PutReceipt) -> None:
        """An acknowledged put. keys: of its rows, as the caller had them."""
        stage = put.header["stage"]
        with self._lock:
            step = self._steps.setdefault(at, OpenStep())
            if rows.table is not None:
                step.tables[table_of(stage)] = rows.table
            if rows.is_part:
                step.spans[stage] = put.ranges
            if keys is not None and rows.is_whole:
                step.orders[stage] = keys
            step.attempt = max(step.attempt, receipt.attempt)
            step.rows = count_rows(step.spans.get(stage, [0, rows.total]))
            step.touched = time.monotonic()
            if receipt.kind != "DUPLICATE":
                step.read = None
            self._puts.keep(at, KeptPut(put, rows.table, receipt.attempt))

    def settled(self, at: str, waited_ms: float, results: list[PipelineResult], everything: bool) -> None:
        """A wait has ended with the outcomes of `results`. With `everything` nothing needs to be put again: they are kept instead."""
        with self._lock:
            step = self._steps.get(at)
            if step is None:
                return
            step.waited_ms += waited_ms
            if everything:
                step.read = step.attempt, results
                self._puts.forget(at)

    def read_before(self, at: str) -> tuple[int, list[PipelineResult]] | None:
        """What was read of the step, and of which attempt; no put has been replaced here since."""
        step = self.of(at)
        return None if step is None else step.read

    def forget(self, at: str) -> None:
        with self._lock:
            self._steps.pop(at, None)
            self._puts.forget(at)

    def mask_of(self, at: str, stage: str, ranges: list[int]) -> MaskColumn | None:
        """The mask of these rows, when earlier puts brought it."""
        pieces = [
            (kept.put.layout.mask, kept.put.ranges)
            for kept in self._kept(at)
            if kept.put.header["stage"] == stage and kept.put.layout.mask is not None
        ]
        return gather_mask(pieces, ranges)

    def fixed(self, at: str, stage: str, fresh: bool) -> FixedRows:
        """What earlier puts have fixed of the step's rows. `fresh`: as Redis has it now."""
        rows = table_of(stage)
        step = self.of(at) or OpenStep()
        known = FixedRows(step.tables.get(rows), step.spans.get(stage))
        if known.table is not None and known.span is not None and not fresh:
            return known
        names = (f"keys:{rows}", f"rows:{rows}", f"span:{stage}")
        blob, total, span = self._connections.execute("HMGET", self._keys(at).status, *names)
        table = key_table(unpack(blob)) if blob else None if fresh else known.table
        return FixedRows(table, from_bitmap(span, int(total)) if span else None)

    def keys_of(self, at: str, stage: str) -> list[str] | None:
        """Keys of all rows of the stage's table, where this producer or another named them."""
        rows, step = table_of(stage), self.of(at)
        if step is not None:
            return step.tables[rows].keys if rows in step.tables else None
        blob = self._connections.execute("HGET", self._keys(at).status, f"keys:{rows}")
        return list(unpack(blob)) if blob else None

    def order(self, at: str, stage: str) -> list[str] | None:
        step = self.of(at)
        return None if step is None else step.orders.get(stage)

    def accepts(self, at: str, pipeline: Mapping[str, Any], attempt: int, hashes: frozenset[str] | None) -> bool:
        """Whether an outcome is of what this producer has put: of no older attempt, and of the very puts that it holds."""
        if attempt < self.attempt(at):
            return False
        if hashes is None:
            return True
        fields = {one["name"] for one in pipeline["fields"]}
        return all(
            kept.put.header["hash"][:HASH_DIGITS] in hashes
            for kept in self._kept(at)
            if kept.put.header["stage"] == pipeline["stage"] and not fields.isdisjoint(kept.put.fields)
        )

    def restore(self, at: str) -> bool:
        """
        Puts again what Redis lacks of the step, or has in an older state than was acknowledged. One by one: another producer may have put
        its part since. A put that somebody has replaced since is dropped here. Answers whether anything was sent.
        """
        puts = self._kept(at)
        if not puts:
            return False
        keys = self._keys(at)
        if self._connections.execute("HGET", keys.status, "released"):
            return False
        sent = False
        for kept, have in zip(puts, read_stored_puts(self._connections, keys, [one.name for one in puts]), strict=True):
            if have is not None and have.hash == kept.put.header["hash"]:
                continue
            if have is not None and have.attempt >= kept.attempt:
                with self._lock:
                    self._puts.drop(at, kept)
            else:
                self._send(at, kept, replace=have is not None)
                sent = True
        return sent

    def _send(self, at: str, kept: KeptPut, replace: bool) -> None:
        header = kept.put.header
        step = self.of(at) or OpenStep()
        rows = step.spans.get(header["stage"])
        span = b"" if rows is None else to_bitmap(rows, header["total_rows"])
        commit = Commit(at, kept.table, span, replace, step.attempt)
        receipt = send_put(self._connections, self._handle, kept.put, commit)
        with self._lock:
            step.attempt = max(step.attempt, receipt.attempt)
            kept.attempt = receipt.attempt

    def tend(self, owner: bool) -> None:
        """
        Looks after the steps for which no call is waiting: puts again what Redis has lost, renews the TTL of the rest, and forgets what
        was released and, for a producer that does not release steps itself, what has settled or is past its deadline.
        """
        names = [f"settled:{pipeline['name']}" for pipeline in self._handle["pipelines"]]
        with self._lock:
            steps = [(at, step) for at, step in self._steps.items() if self._puts.of(at)]
        for at, step in steps:
            released, *settled = self._connections.execute("HMGET", self._keys(at).status, "released", *names)
            done = None not in settled
            late = (time.monotonic() - step.touched) * 1000 > self._handle["max_wait_ms"]
            with self._lock:
                self._puts.settled(at, done)
                over = bool(released) or (not owner and (done or late))
                if over:
                    self._puts.forget(at)
            if not over:
                self.restore(at)
                self._keep_alive(at)

    def _keep_alive(self, at: str) -> None:
        """Streams of puts get their TTL when they are written: a step that lasts longer needs them all the same."""
        ttl, now, keys = self._handle["limits"]["step_ttl_ms"], time.monotonic(), self._keys(at)
        due = [kept for kept in self._kept(at) if (now - kept.renewed) * 1000 > ttl / 4]
        headers = [kept.put.header for kept in due]
        streams = [keys.put(header["stage"], header["id"], header["hash"]) for header in headers]
        if not streams:
            return
        self._connections.pipeline([("PEXPIRE", stream, ttl) for stream in streams])
        for kept in due:
            kept.renewed = now

    def forget_settled(self) -> None:
        """Of steps that this producer will not release itself nothing is needed once they hold no put."""
        with self._lock:
            self._steps = {at: step for at, step in self._steps.items() if self._puts.of(at)}

    def _kept(self, at: str) -> Sequence[KeptPut]:
        with self._lock:
            return self._puts.of(at)

    def _keys(self, at: str) -> StepKeys:
        return run_keys(self._handle["run"]).step(self._handle["incarnation"], at)

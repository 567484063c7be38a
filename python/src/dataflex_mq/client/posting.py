"""From a trainer's fields to a committed put."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.input import check_lengths
from ..columns.input_types import FieldValue
from ..columns.row_ranges import to_bitmap
from ..errors import DataflexError, error
from ..redis.connect import Connections
from ..redis.mounts import Handle
from .as_wanted import as_wanted
from .form import check_flags
from .guard import whole_number
from .open_steps import OpenSteps
from .plan_rows import PutRows, plan_rows
from .prepare import PreparedPut, prepare_put
from .put import Commit, PutReceipt, send_put
from .rows import check_keys, check_rows, row_count


@dataclass(frozen=True, slots=True)
class PutOptions:
    total_rows: int | None
    rows: tuple[int, int] | None
    keys: list[str] | None
    lengths: np.ndarray | None
    is_padding: np.ndarray | None
    replace: bool

    @staticmethod
    def of(total_rows: Any, rows: Any, keys: Any, lengths: Any, is_padding: Any, replace: bool) -> PutOptions:
        """Raises INVALID_INPUT."""
        if keys is not None and rows is not None:
            raise error("INVALID_INPUT", "a put names its rows by keys or by rows, not by both")
        return PutOptions(
            None if total_rows is None else whole_number(total_rows, "total_rows"),
            check_rows(rows),
            None if keys is None else check_keys(keys),
            None if lengths is None else check_lengths("lengths", lengths),
            None if is_padding is None else check_flags(is_padding),
            bool(replace),
        )


class Posting:
    """One put: encoded at once, sent when `send` is called."""

    def __init__(
        self,
        connections: Connections,
        handle: Handle,
        steps: OpenSteps,
        at: str,
        stage: str,
        fields: Mapping[str, Any],
        sessions: Mapping[str, FieldValue],
        options: PutOptions,
        timeout: float,
        alive: Callable[[], None],
    ) -> None:
        """Raises INVALID_INPUT, LIMIT, ROWS_CONFLICT; REDIS_UNREACHABLE where keys have to be looked up."""
        self._connections = connections
        self._handle = handle
        self._steps = steps
        self._at = at
        self._stage = stage
        self._options = options
        self._end = time.monotonic() + timeout
        self._timeout = timeout
        self._alive = alive
        self._what = f"put of step {at} at {stage}"
        needs = handle["stages"].get(stage, [])
        self._values: dict[str, FieldValue] = {
            need["name"]: as_wanted(need, fields[need["name"]]) for need in needs if need["name"] in fields
        }
        self._sessions = sessions
        self._prepared = self._prepare(fresh=False)

    def send(self) -> PutReceipt:
        """Raises what `send_put` raises, and REDIS_UNREACHABLE: it may have arrived all the same, putting again is harmless."""
        try:
            return self._send()
        except DataflexError as caught:
            # Another producer has fixed the step's rows first: read them, and put in their order.
            raced = caught.code == "ROWS_CONFLICT" and caught.details.get("reason") in ("keys", "stage_rows")
            if not raced or self._options.keys is None:
                raise
            self._prepared = self._prepare(fresh=True)
            return self._send()

    def _send(self) -> PutReceipt:
        put, rows = self._prepared
        span = to_bitmap(rows.plan.ranges, rows.total) if rows.is_part else b""
        commit = Commit(self._at, rows.table, span, self._options.replace, self._steps.attempt(self._at))
        receipt = self._call(lambda: send_put(self._connections, self._handle, put, commit))
        self._steps.keep(self._at, put, rows, self._options.keys, receipt)
        return receipt

    def _prepare(self, fresh: bool) -> tuple[PreparedPut, PutRows]:
        options = self._options
        rows = plan_rows(
            options.keys,
            options.rows,
            options.total_rows,
            row_count(self._values),
            self._stage,
            self._handle["limits"]["max_rows"],
            lambda: self._call(lambda: self._steps.fixed(self._at, self._stage, fresh)),
        )
        mask = self._steps.mask_of(self._at, self._stage, rows.plan.ranges)
        put = prepare_put(
            self._handle,
            self._stage,
            self._values,
            rows.plan,
            rows.total,
            options.lengths,
            options.is_padding,
            mask,
            self._sessions,
        )
        return put, rows

    def _call(self, work: Any) -> Any:
        left = max(0.0, self._end - time.monotonic())
        try:
            return self._connections.call(left, self._what, work, self._alive)
        except DataflexError as caught:
            if caught.code != "REDIS_UNREACHABLE":
                raise
            # The whole wait, not what was left of it when the last command began.
            raise self._connections.unreachable(self._what, self._timeout, caught.__cause__ or caught) from caught

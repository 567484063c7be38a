"""Settled pipelines as read from a step's `out` stream, and decoded for the trainer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.decode import decode_columns
from ..columns.tensor import MaskColumn, TokenColumn, VectorColumn
from ..errors import error
from ..protocol.check_messages import check_outcome_header
from ..protocol.codec import unpack
from ..redis.chunk_stream import read_chunks
from ..redis.connect import Connections, text
from ..redis.keys import StepKeys
from ..redis.mounts import Handle
from ..redis.streams import Entry, read_answer
from .compose import RowWeights, TokenWeights, Weights, expand


@dataclass(frozen=True, slots=True)
class Outcome:
    header: dict[str, Any]
    body: bytes


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """
    One pipeline's result. `header` holds what travelled beside the weights: `mechanism`, `stage`, `granularity`, `rows`, `width`,
    `stats`, `score_stats`, `metrics`, `proportions`, `flags`, `warnings`, `timings` (ms), `producer`. `kept` (k,): ascending row numbers
    of a selector. `dropped` (k,): rows with weight 0 for a value that was not finite (`on_nonfinite: drop`). `padding` (rows,): rows that
    only filled the batch up. `mask`: the mask that scoring read, padding rows empty.
    """

    name: str
    header: dict[str, Any]
    compact: Weights | None
    mask: MaskColumn | None
    padding: np.ndarray | None
    kept: np.ndarray | None
    dropped: np.ndarray | None = None

    @property
    def stage(self) -> str:
        return str(self.header["stage"])

    @property
    def proportions(self) -> dict[str, float] | None:
        """Mixers: domain → share."""
        return self.header.get("proportions")

    @property
    def metrics(self) -> dict[str, float]:
        return dict(self.header.get("metrics", {}))

    @property
    def weights(self) -> np.ndarray:
        """float32 (rows,), or (rows, L) with 0 outside the mask; empty where the pipeline weighs nothing."""
        if self.compact is None:
            return np.zeros(0, dtype=np.float32)
        if isinstance(self.compact, RowWeights):
            return self.compact.values.copy()
        if self.mask is None:
            raise error("DECODE", "token weights came without their mask")
        return expand(self.compact, self.mask)


def read_outcomes(connections: Connections, key: str, after: str, block_ms: int) -> list[Entry]:
    """Outcomes after an id, waiting up to `block_ms` (0: not at all)."""
    if block_ms > 0:
        command = ("XREAD", "COUNT", 64, "BLOCK", block_ms, "STREAMS", key, after)
        return read_answer(connections.blocking.execute_command(*command))
    return read_answer(connections.execute("XREAD", "COUNT", 64, "STREAMS", key, after))


def put_hashes(entry: Entry) -> frozenset[str] | None:
    """First digits of the hashes of the puts from which an outcome was computed; None for a failure that was computed from none."""
    listed = text(entry.fields.get("puts", b""))
    return frozenset(listed.split(",")) if listed else None


def attempt_of(entry: Entry) -> int:
    """Raises DECODE."""
    return _whole(entry, "attempt")


def _whole(entry: Entry, key: str) -> int:
    value = text(entry.fields.get(key, b""))
    if re.fullmatch(r"[0-9]{1,9}", value):
        return int(value)
    raise error("DECODE", f'malformed outcome: {key} is "{value[:40]}", not a whole number')


def load_outcome(connections: Connections, keys: StepKeys, entry: Entry) -> Outcome:
    """Reads an entry's body, from its chunks where it is not inline. Raises DECODE."""
    header = check_outcome_header(unpack(entry.fields.get("header", b"")))
    chunks = _whole(entry, "chunks")
    if chunks == 0:
        return Outcome(header, entry.fields.get("body", b""))
    stream = f"{keys.prefix}{text(entry.fields.get('result', b''))}"
    return Outcome(header, b"".join(read_chunks(connections, stream, chunks)))


def decode_outcome(handle: Handle, outcome: Outcome) -> PipelineResult:
    """Raises the failure that settled the pipeline, rebuilt; DECODE."""
    header = outcome.header
    name, stage = header["pipeline"], header["stage"]
    if header["kind"] == "failure":
        details = {**header["details"], "pipeline": name, "stage": stage}
        raise error(header["code"], f'pipeline "{name}" ({stage}): {header["message"]}', details)
    columns = decode_columns(header["columns"], outcome.body, handle["limits"])
    weights, mask = columns.get("weights"), columns.get("mask")
    kept, dropped, padding = columns.get("kept"), columns.get("dropped"), columns.get("is_padding")
    compact: Weights | None = None
    if isinstance(weights, VectorColumn):
        compact = RowWeights(weights.values.astype(np.float32, copy=False))
    elif isinstance(weights, TokenColumn) and weights.offsets is not None and weights.kind == "jagged":
        compact = TokenWeights(weights.offsets, weights.values.astype(np.float32, copy=False))
    elif weights is not None:
        raise error("DECODE", f'result of "{name}": weights came as {getattr(weights, "kind", "strings")}')
    if weights is not None and weights.rows != header["rows"]:
        raise error("DECODE", f'result of "{name}": weights of {weights.rows} rows for a step of {header["rows"]}')
    return PipelineResult(
        name,
        {key: value for key, value in header.items() if key not in ("columns", "bytes", "chunks", "chunk_bytes")},
        compact,
        mask if isinstance(mask, MaskColumn) else None,
        padding.values.astype(bool) if isinstance(padding, VectorColumn) else None,
        kept.values.copy() if isinstance(kept, VectorColumn) else None,
        dropped.values.copy() if isinstance(dropped, VectorColumn) else None,
    )

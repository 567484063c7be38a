"""Uploads a put's chunks and commits them. Both are idempotent, so after a lost answer or a forgotten mount the same put is sent again."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import DataflexError, error
from ..redis.chunk_stream import check_stored, windows
from ..redis.commits import commit_put, put_stream
from ..redis.connect import Connections, text
from ..redis.mounts import Handle, restore_run
from ..sentences import sentence
from .prepare import PreparedPut
from .rows import KeyTable

# How often a put is sent: its chunks may vanish between upload and commit (a restarted server).
TRIES = 3


@dataclass(frozen=True, slots=True)
class Commit:
    step: str
    table: KeyTable | None
    # Bitmap of the stage's rows, if the put fixes them; empty: as in an earlier put, or all of the table.
    span: bytes
    replace: bool
    # The highest attempt of the step that this client has seen: Redis never falls behind it, whatever data it has lost.
    floor: int


@dataclass(frozen=True, slots=True)
class PutReceipt:
    """`sent`: the fields that travelled (others were not asked for). `kind`: NEW, DUPLICATE, REPLACED or NOTHING_WANTED."""

    sent: list[str]
    attempt: int
    kind: str


def send_put(connections: Connections, handle: Handle, put: PreparedPut, commit: Commit) -> PutReceipt:
    """Raises FENCED, RELEASED, PUT_CONFLICT, ROWS_CONFLICT, CHUNKS_MISSING; redis-py's errors when the connection is lost."""
    stream = put_stream(handle, commit.step, put.header)
    digest, blob = (commit.table.digest, commit.table.blob) if commit.table else ("", b"")
    call = commit_put(
        handle,
        commit.step,
        put.header,
        put.header_bytes,
        put.fields,
        put.bitmap,
        digest,
        blob,
        commit.span,
        commit.replace,
        commit.floor,
    )
    for attempt in range(1, TRIES + 1):
        pending = list(windows(stream, put.chunks, handle["limits"]["step_ttl_ms"])) or [[]]
        for commands in pending[:-1]:
            check_stored(connections.pipeline(commands))
        # One connection keeps the order: the commit runs after the last chunks without waiting for their answers.
        answers = connections.pipeline([*pending[-1], call.by_hash()])
        check_stored(answers[:-1])
        word, rest = connections.script_answer(call, answers[-1])
        if word == "OK":
            return PutReceipt(put.fields, int(rest[0]), text(rest[1]))
        again = word == "CHUNKS_MISSING" or (word == "NOT_MOUNTED" and restore_run(connections, handle))
        if not again or attempt == TRIES:
            raise _refused(handle, put, commit.step, word, [text(part) for part in rest])
    raise AssertionError("unreachable")


def _refused(handle: Handle, put: PreparedPut, step: str, word: str, rest: list[str]) -> DataflexError:
    stage = put.header["stage"]
    first, detail = [*rest, "", ""][:2]
    key = {"CHUNKS_MISSING": "CHUNKS_MISSING.put", "ROWS_CONFLICT": f"ROWS_CONFLICT.{first}"}.get(word, word)
    why = sentence(
        key,
        run=handle["run"],
        incarnation=handle["incarnation"],
        step=step,
        found=first,
        chunks=put.header["chunks"],
        total_rows=put.header["total_rows"],
        detail=detail,
        replace="replace=True",
    )
    where = f"step {step}, stage {stage}, fields {', '.join(put.fields)}"
    details = {"run": handle["run"], "step": step, "stage": stage, "fields": put.fields, "reason": first}
    return error(word, f"{where}: {why}", details)

"""The scripts with which a trainer changes a step: the commit of a put, and the step's release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .connect import Connections, text
from .keys import run_keys
from .mounts import Handle
from .scripts import ScriptCall


def put_stream(handle: Handle, step: str, header: Mapping[str, Any]) -> str:
    """The key of a put's chunks."""
    at = run_keys(handle["run"]).step(handle["incarnation"], step)
    return at.put(header["stage"], header["id"], header["hash"])


def commit_put(
    handle: Handle,
    step: str,
    header: Mapping[str, Any],
    header_bytes: bytes,
    fields: Sequence[str],
    bitmap: bytes,
    keys_digest: str,
    keys_blob: bytes,
    span: bytes,
    replace: bool,
    floor: int,
) -> ScriptCall:
    """
    Marks a put's rows as produced. header_bytes: `header`, packed. bitmap: of the put's rows. keys_digest, keys_blob: of the step's row
    table, empty without keys. span: bitmap of the rows that the put's stage is about, empty where an earlier put said it or all are meant.
    floor: the step's highest attempt that this client has seen. Answers OK with attempt and kind, or why the put is refused.
    """
    keys = run_keys(handle["run"])
    at = keys.step(handle["incarnation"], step)
    return ScriptCall(
        "commit_put",
        [keys.mount, at.status, at.puts, put_stream(handle, step, header), keys.announce, keys.steps],
        [
            handle["incarnation"],
            handle["run"],
            step,
            header["stage"],
            header["id"],
            header["hash"],
            header["chunks"],
            header["bytes"],
            header_bytes,
            header["total_rows"],
            keys_digest,
            keys_blob,
            ",".join(fields),
            bitmap,
            int(replace),
            handle["limits"]["step_ttl_ms"],
            handle["max_wait_ms"],
            span,
            floor,
        ],
    )


def release_step(connections: Connections, handle: Handle, step: str, report: bytes) -> tuple[str, str]:
    """report: packed, empty for none. Answers OK with BURIED or PENDING, or why nothing was released with ""."""
    keys = run_keys(handle["run"])
    word, rest = connections.run_script(
        ScriptCall(
            "release",
            [keys.mount, keys.step(handle["incarnation"], step).status, keys.steps, keys.notices],
            [handle["incarnation"], handle["run"], step, handle["limits"]["step_ttl_ms"], report],
        )
    )
    return word, text(rest[0]) if rest else ""

"""The failure with which a client that stops waiting settles a step, so that no worker goes on with it."""

from __future__ import annotations

import os
import uuid
from typing import Any

from ..protocol.codec import pack
from .connect import Connections
from .keys import STATE_TTL_MS, run_keys
from .mounts import Handle
from .scripts import ScriptCall

# Steps that a state keeps unless its component says otherwise; the service's own default.
STATE_STEPS = 20_000
# Messages are meant to be read, and are kept with the notices.
MESSAGE_CHARS = 4_000


def settle_timeout(
    connections: Connections, handle: Handle, step: str, pipeline: dict[str, Any], attempt: int, message: str
) -> str:
    """Answers OK, or why this outcome was not accepted (SETTLED: another one came first)."""
    keys = run_keys(handle["run"])
    at = keys.step(handle["incarnation"], step)
    token = str(uuid.uuid4())
    name = pipeline["name"]
    header = {
        "v": handle["v"],
        "kind": "failure",
        "pipeline": name,
        "stage": pipeline["stage"],
        "attempt": attempt,
        "code": "TIMEOUT",
        "message": message[:MESSAGE_CHARS],
        "details": {},
        "producer": {"worker": "client", "pid": os.getpid(), "job_id": ""},
    }
    call = ScriptCall(
        "settle",
        [keys.mount, at.status, at.out, at.result(name, token), keys.notices, keys.steps, keys.state(name)],
        [
            handle["incarnation"],
            handle["run"],
            step,
            name,
            attempt,
            "failure",
            0,
            pack(header),
            b"",
            handle["limits"]["step_ttl_ms"],
            "",
            token,
            b"",
            STATE_STEPS,
            STATE_TTL_MS,
            # Computed from no put: it concerns the attempt alone.
            "",
            "",
        ],
    )
    return connections.run_script(call)[0]

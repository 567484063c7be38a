"""Which brokers and workers are alive."""

from __future__ import annotations

import json
from typing import Any

from .connect import Connections, text
from .keys import BROKERS, PREFIX, WORKERS


def live_brokers(connections: Connections) -> list[dict[str, Any]]:
    return _alive(connections, BROKERS, "broker")


def live_workers(connections: Connections) -> list[dict[str, Any]]:
    """Each with `queues` that it serves, `slots` and `active` jobs."""
    return _alive(connections, WORKERS, "worker")


def _alive(connections: Connections, index: str, kind: str) -> list[dict[str, Any]]:
    command = connections.execute
    ids = command("ZRANGEBYSCORE", index, connections.now_ms(), "+inf")
    beats = command("MGET", *(f"{PREFIX}:{kind}:{text(one)}" for one in ids)) if ids else []
    return [json.loads(beat) for beat in beats if beat is not None]

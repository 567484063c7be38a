"""Why a wait ended without weights, in sentences: which rows of which field are missing, or which service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..columns.row_ranges import count_bits
from ..redis.connect import Connections
from ..redis.keys import queue_name, run_keys
from ..redis.mounts import Handle
from ..redis.presence import live_brokers, live_workers

Pipeline = dict[str, Any]


def diagnose(connections: Connections, handle: Handle, step: str, waiting: Sequence[Pipeline]) -> list[str]:
    status = run_keys(handle["run"]).step(handle["incarnation"], step).status
    names = ["attempt", *(name for pipeline in waiting for name in _status_fields(pipeline))]
    state = dict(zip(names, connections.execute("HMGET", status, *names), strict=True))
    if state["attempt"] is None:
        read = "; ".join(
            f"{', '.join(field['name'] for field in fields)} at {stage}" for stage, fields in handle["stages"].items()
        )
        return [
            f"Redis knows nothing of step {step}: nothing that this run reads was put ({read}), or it was released or has expired"
        ]
    found = [sentence for pipeline in waiting for sentence in _missing(pipeline, state)]
    if found:
        return list(dict.fromkeys(found))
    if not live_brokers(connections):
        return ["every field is there, but no broker is alive. Start one: dataflex-mq broker"]
    workers = live_workers(connections)
    for pipeline in waiting:
        queue = queue_name(pipeline["stage"], pipeline["fingerprint"])
        serving = [worker for worker in workers if queue in worker["queues"]]
        name = pipeline["name"]
        if not serving:
            found.append(f'no live worker serves pipeline "{name}" (queue {queue}). Start one: dataflex-mq worker')
        elif all("unready" in worker for worker in serving):
            found.append(f'no worker for pipeline "{name}" is ready: {serving[0]["unready"]}')
        elif all(worker["active"] >= worker["slots"] for worker in serving):
            found.append(f'all {len(serving)} worker(s) for pipeline "{name}" are busy. Start more: dataflex-mq worker')
    return list(dict.fromkeys(found)) or ["every field is there and workers live; the result did not come in time"]


def _status_fields(pipeline: Pipeline) -> list[str]:
    stage = pipeline["stage"]
    made = [f"made:{stage}:{field['name']}" for field in pipeline["fields"]]
    return [f"content:{pipeline['name']}", f"span:{stage}", *made]


def _missing(pipeline: Pipeline, state: dict[str, bytes | None]) -> list[str]:
    name, stage = pipeline["name"], pipeline["stage"]
    if state[f"content:{name}"] is not None:
        return []
    span = state[f"span:{stage}"]
    fields = [field["name"] for field in pipeline["fields"]]
    if span is None:
        return [f'pipeline "{name}": nothing was put at stage {stage}; it needs {", ".join(fields)}']
    rows = count_bits(span)
    made = {field: count_bits(state[f"made:{stage}:{field}"] or b"") for field in fields}
    return [
        f'pipeline "{name}": field "{field}" at stage {stage} has {have} of {rows} rows'
        for field, have in made.items()
        if have != rows
    ]

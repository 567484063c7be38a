"""What enters this client, checked before anything of it is used; as the service's `src/protocol/check-messages.ts`."""

from __future__ import annotations

import itertools
from typing import Any

from . import shape as a
from .stages import STAGES

_stage = a.one_of(STAGES)
_mechanism = a.one_of(["reweight", "select", "mix"])
_granularity = a.one_of(["row", "token", "domain"])
_words = a.list_of(a.text)
_numbers = a.map_of(a.real)

_body = {"bytes": a.count, "chunks": a.count, "chunk_bytes": a.positive}


def _chunks_fit(value: Any, _path: str) -> str | None:
    due = -(-value["bytes"] // value["chunk_bytes"])
    if value["chunks"] == due:
        return None
    return f"chunks is {value['chunks']}, but {value['bytes']} bytes in chunks of {value['chunk_bytes']} are {due}"


def _ranges(value: Any, path: str) -> str | None:
    """Ascending, none empty, none touching the next."""
    wrong = a.list_of(a.count)(value, path)
    if wrong:
        return wrong
    if len(value) % 2:
        return f"{path} has no even length"
    ascends = all(x < y for x, y in itertools.pairwise(value))
    return None if ascends else f"{path} is no list of row ranges"


_columns = a.list_of(
    a.keys({"name": a.name, "shape": a.list_of(a.count), "parts": a.map_of(a.list_of(a.count))}, {"enc": a.text})
)
_producer = a.keys({"worker": a.text, "pid": a.real, "job_id": a.text}, {"version": a.text})
_outcome = {"v": a.count, "pipeline": a.name, "stage": _stage, "attempt": a.count, "producer": _producer}
_result = a.keys(
    {
        **_outcome,
        **_body,
        "mechanism": _mechanism,
        "granularity": _granularity,
        "rows": a.count,
        "ranges": _ranges,
        "width": a.count,
        "columns": _columns,
        "metrics": _numbers,
        "flags": _words,
        "warnings": _words,
        "timings": _numbers,
    },
    {"proportions": _numbers, "stats": _numbers, "score_stats": _numbers},
)
_failure = a.keys({**_outcome, "code": a.name, "message": a.text, "details": a.map_of(a.anything)})


def _of_kind(value: Any, path: str) -> str | None:
    return a.both(_result, _chunks_fit)(value, path) if value["kind"] == "result" else _failure(value, path)


check_outcome_header = a.checker("outcome header", a.both(a.keys({"kind": a.one_of(["result", "failure"])}), _of_kind))

_fields = a.list_of(a.keys({"name": a.name}, {"scope": a.one_of(["mask", "response"])}))
_component = a.keys({"name": a.name, "params": a.map_of(a.anything)})
_spec = a.keys(
    {
        "name": a.name,
        "mechanism": _mechanism,
        "stage": _stage,
        "actuator": _component,
        "fields": _fields,
        "fingerprint": a.name,
        "granularity": _granularity,
        "shadow": a.flag,
    },
    {
        "scorer": _component,
        "group_size": a.positive,
        "domains": _words,
        "domain_key": a.name,
        "prior": a.list_of(a.real),
        "policy": a.keys({"role": a.one_of(["select", "feed"])}, {"fed_by": a.name}),
        "remembers": a.flag,
    },
)
_limits = a.keys(
    {
        "chunk_bytes": a.positive,
        "inline_bytes": a.count,
        "max_put_bytes": a.positive,
        "max_rows": a.positive,
        "max_width": a.positive,
        "max_tokens": a.positive,
        "max_string_bytes": a.positive,
        "step_ttl_ms": a.positive,
    }
)
check_handle = a.checker(
    "handle",
    a.keys(
        {
            "v": a.count,
            "run": a.name,
            "mount_id": a.name,
            "limits": _limits,
            "stages": a.map_of(_fields),
            "pipelines": a.list_of(_spec),
            "composition": a.keys(
                {"combine": a.one_of(["multiply", "replace"]), "rescale": a.one_of(["none", "row", "token"])},
                {"clip": a.list_of(a.real)},
            ),
            "max_wait_ms": a.real,
            "on_unavailable": a.one_of(["error", "neutral"]),
            "warnings": _words,
            "incarnation": a.positive,
        }
    ),
)

_accepted = a.keys({"handle": a.anything})
_refused = a.keys({"code": a.name, "message": a.text, "problems": a.list_of(a.map_of(a.anything))})


def _answer(value: Any, path: str) -> str | None:
    return a.both(a.keys({"ok": a.flag}), lambda v, p: (_accepted if v["ok"] else _refused)(v, p))(value, path)


def _of_state(value: Any, path: str) -> str | None:
    answered = value["state"] == "answered"
    return (a.keys({"answer": _answer}) if answered else a.keys({"for": a.text}))(value, path)


check_mount_reply = a.checker("mount reply", a.both(a.keys({"state": a.one_of(["answered", "waiting"])}), _of_state))

"""Asks for a run and waits for the answer."""

from __future__ import annotations

import enum
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ..errors import error
from ..protocol.check_messages import check_handle, check_mount_reply
from ..protocol.codec import pack, plain, unpack
from ..protocol.message_limits import MESSAGE_MAX_STRING_BYTES
from ..redis.address import redact
from ..redis.connect import Connections
from ..redis.keys import CLAIM_TTL_MS, CONTROL, reply_key, run_keys
from ..redis.mounts import Handle, read_handle
from ..redis.presence import live_brokers, live_workers
from ..sentences import error_of
from .guard import check_run_id, seconds_of

PROTOCOL_VERSIONS = [2]
# The request is sent again this often under the same id: a flushed server has forgotten it, and a second copy does no harm.
ASK_AGAIN_SECONDS = 5.0
# How long the diagnosis may take after the deadline.
DIAGNOSIS_SECONDS = 2.0
# The longest string that a broker reads: far above any real configuration.
MAX_REQUEST_BYTES = MESSAGE_MAX_STRING_BYTES
# The longest pause between two polls for the answer.
MAX_PAUSE_SECONDS = 0.05


def request_mount(
    connections: Connections,
    run_id: str,
    dataflex: Any,
    adv_estimator: Any,
    provides: Sequence[str] | None,
    group_size: int | None,
    trainer: Mapping[str, Any] | None,
    takeover: bool,
    timeout: float,
    mount_id: str | None,
) -> Handle:
    """
    Raises INVALID_INPUT for wrong arguments, LIMIT; CONFIG, RUN_BUSY, PROTOCOL_VERSION as answered; NO_BROKER, NO_WORKER,
    REDIS_UNREACHABLE at the deadline.
    """
    check_run_id(run_id)
    seconds_of(timeout, "timeout")
    if mount_id is not None and not isinstance(mount_id, str):
        raise error("INVALID_INPUT", f"mount_id is {mount_id!r}; it is a string", {"argument": "mount_id"})
    if provides is not None and (isinstance(provides, str) or not isinstance(provides, Iterable)):
        raise error("INVALID_INPUT", f"provides is {provides!r}; it is a list of field names", {"argument": "provides"})
    chosen = mount_id or str(uuid.uuid4())
    estimator = adv_estimator.value if isinstance(adv_estimator, enum.Enum) else adv_estimator
    given = {
        "adv_estimator": estimator,
        "provides": None if provides is None else list(provides),
        "group_size": group_size,
        "trainer": trainer,
    }
    request = {
        "v": PROTOCOL_VERSIONS,
        "kind": "mount",
        "mount_id": chosen,
        "run": run_id,
        "dataflex": _without_password(plain(dataflex, ("dataflex",))),
        "takeover": bool(takeover),
        **{key: value for key, value in given.items() if value is not None},
    }
    end = time.monotonic() + timeout

    def left() -> float:
        return end - time.monotonic()

    def call(work: Any) -> Any:
        return connections.call(max(left(), 0) + DIAGNOSIS_SECONDS, f'mount "{run_id}"', work)

    command = connections.execute
    now = call(connections.now_ms)
    body = pack({**request, "deadline": now + int(timeout * 1000)})
    if len(body) > MAX_REQUEST_BYTES:
        message = (
            f'the mount request of "{run_id}" has {len(body)} bytes, at most {MAX_REQUEST_BYTES} are read; '
            "a dataflex block has a few thousand: is there data in it?"
        )
        raise error("LIMIT", message, {"bytes": len(body), "limit": MAX_REQUEST_BYTES})
    call(lambda: _forget_refusal(connections, chosen))
    ask_at, pause, waiting_for = 0.0, 0.002, None
    while left() > 0:
        if time.monotonic() >= ask_at:
            call(lambda: command("SET", run_keys(run_id).claim(chosen), "1", "PX", CLAIM_TTL_MS))
            call(lambda: command("XADD", CONTROL, "*", "request", body))
            ask_at = time.monotonic() + ASK_AGAIN_SECONDS
        raw = call(lambda: command("GET", reply_key(chosen)))
        if raw:
            reply = check_mount_reply(unpack(raw))
            if reply["state"] == "answered":
                answer = reply["answer"]
                if answer["ok"]:
                    return check_version(check_handle(answer["handle"]))
                raise error(answer["code"], answer["message"], {"problems": answer["problems"]})
            waiting_for = reply["for"]
        time.sleep(max(0.0, min(pause, left())))
        pause = min(pause * 1.5, MAX_PAUSE_SECONDS)
    return _no_answer(connections, call, timeout, waiting_for)


def _without_password(dataflex: Any) -> Any:
    """The address in a block is for this client alone; Redis, dead letters and complaints need not hold its password."""
    url = dataflex.get("redis_url") if isinstance(dataflex, Mapping) else None
    return {**dataflex, "redis_url": redact(url)} if isinstance(url, str) else dataflex


def read_mounted(connections: Connections, run_id: str) -> Handle:
    """The handle of a run that another producer mounted. Raises NOT_MOUNTED."""
    handle = read_handle(connections, run_id)
    if handle is None:
        raise error_of("NOT_MOUNTED", run=run_id)
    return check_version(handle)


def check_version(handle: Handle) -> Handle:
    """Raises PROTOCOL_VERSION."""
    if handle["v"] in PROTOCOL_VERSIONS:
        return handle
    ours = ", ".join(map(str, PROTOCOL_VERSIONS))
    message = f"the run speaks protocol {handle['v']}, this client {ours}: upgrade the older"
    raise error("PROTOCOL_VERSION", message, {"theirs": handle["v"], "ours": PROTOCOL_VERSIONS})


def _forget_refusal(connections: Connections, mount_id: str) -> None:
    """The same id always gets the same handle; a refusal is forgotten, so that the mount is decided anew."""
    command = connections.execute
    raw = command("GET", reply_key(mount_id))
    reply = check_mount_reply(unpack(raw)) if raw else None
    if reply and not (reply["state"] == "answered" and reply["answer"]["ok"]):
        command("DEL", reply_key(mount_id))


def _no_answer(connections: Connections, call: Any, timeout: float, waiting_for: str | None) -> NoReturn:
    time_given = f"{timeout:g} s"
    brokers = call(lambda: live_brokers(connections))
    if not brokers:
        raise error_of("NO_BROKER.none", time=time_given)
    if waiting_for == "worker" or not call(lambda: live_workers(connections)):
        raise error_of("NO_WORKER", time=time_given)
    raise error_of("NO_BROKER.silent", brokers=len(brokers), time=time_given)

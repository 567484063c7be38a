"""A mounted run in Redis."""

from __future__ import annotations

import re
from typing import Any

from ..protocol.check_messages import check_handle
from ..protocol.codec import pack, unpack
from .connect import Connections, text
from .keys import HEARTBEAT_TTL_MS, MOUNT_TTL_MS, STATE_TTL_MS, run_keys
from .scripts import ScriptCall

Handle = dict[str, Any]


def read_handle(connections: Connections, run: str) -> Handle | None:
    incarnation, blob = connections.execute("HMGET", run_keys(run).mount, "inc", "handle")
    if not incarnation or not blob:
        return None
    read, number = unpack(blob), text(incarnation)
    known = int(number) if re.fullmatch(r"[0-9]{1,16}", number) else None
    return dict(check_handle({**read, "incarnation": known} if isinstance(read, dict) else read))


def restore_run(connections: Connections, handle: Handle) -> bool:
    """Puts a forgotten mount back. Answers whether this incarnation still owns the run."""
    keys = run_keys(handle["run"])
    body = {key: value for key, value in handle.items() if key != "incarnation"}
    fields: list[Any] = ["handle", pack(body), "pipelines", ",".join(p["name"] for p in handle["pipelines"])]
    for pipeline in handle["pipelines"]:
        needs = ",".join(field["name"] for field in pipeline["fields"])
        fields += [f"need:{pipeline['name']}", f"{pipeline['stage']}|{needs}"]
    args = [keys.encoded, handle["mount_id"], handle["incarnation"], MOUNT_TTL_MS, HEARTBEAT_TTL_MS, *fields]
    return connections.run_script(ScriptCall("restore", [keys.mount, keys.trainer, keys.runs], args))[0] == "OK"


def trainer_beat(connections: Connections, handle: Handle) -> str:
    """Keeps the run busy for others. Answers OK, FENCED or NOT_MOUNTED."""
    return connections.run_script(heartbeat(handle, leave=False))[0]


def heartbeat(handle: Handle, leave: bool) -> ScriptCall:
    """leave: signs off, so that the run may be mounted again at once."""
    keys = run_keys(handle["run"])
    args = [handle["incarnation"], MOUNT_TTL_MS, HEARTBEAT_TTL_MS, int(leave), STATE_TTL_MS]
    return ScriptCall("heartbeat", [keys.mount, keys.trainer, keys.steps], args)

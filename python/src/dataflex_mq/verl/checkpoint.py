"""What a mixing run remembers, in a file of verl's checkpoint folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..errors import error

FILE = "dataflex_mq.json"


def write_state(folder: Path, state: dict[str, Any]) -> None:
    """Written completely or not at all: verl marks the folder as complete after this."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{FILE}.{os.getpid()}"
    with partial.open("w", encoding="utf-8") as file:
        json.dump({"v": 1, **state}, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / FILE)


def read_state(folder: Path) -> dict[str, Any] | None:
    """None: a checkpoint of a run that did not mix. Raises DECODE."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as caught:
        raise error("DECODE", f"{path} cannot be read ({caught}): is the checkpoint whole?") from caught
    if not isinstance(state, dict) or state.get("v") != 1:
        raise error("DECODE", f"{path} is of another version than this dataflex_mq reads (1)")
    return state

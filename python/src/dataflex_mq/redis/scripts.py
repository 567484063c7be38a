"""
The service's Lua scripts: only they change a step, whatever language the client is written in. In a checkout `scripts/` holds links to
`src/redis/scripts`; building the package copies the files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

SCRIPTS = {
    "restore": ("restore-3.lua", 3),
    "heartbeat": ("heartbeat-3.lua", 3),
    "commit_put": ("commit-put-6.lua", 6),
    "settle": ("settle-7.lua", 7),
    "restore_state": ("restore-state-2.lua", 2),
    "release": ("release-4.lua", 4),
}


@cache
def script(name: str) -> tuple[str, str, int]:
    """Source (the shared part in front), its SHA-1 as EVALSHA takes it, and its count of KEYS."""
    file, keys = SCRIPTS[name]
    folder = resources.files(__package__).joinpath("scripts")
    source = "\n".join(folder.joinpath(part).read_text(encoding="utf-8") for part in ("lib.lua", file))
    return source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest(), keys


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """A script with its KEYS and ARGV, whose order only the function that makes the call knows; this room has one for each script."""

    name: str
    keys: Sequence[str]
    args: Sequence[Any]

    def by_hash(self) -> list[Any]:
        """The command for a server that knows the script."""
        _, sha, count = script(self.name)
        assert len(self.keys) == count, self.name
        return ["EVALSHA", sha, count, *self.keys, *self.args]

    def by_source(self) -> list[Any]:
        """The command for a server that does not know the script yet."""
        source, _, count = script(self.name)
        return ["EVAL", source, count, *self.keys, *self.args]

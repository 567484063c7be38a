"""A trainer in a process of its own, which a test reads and kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from helpers.processes import end_with_parent, eventually

SCRIPT = Path(__file__).with_name("toy_process.py")


class TrainerProcess:
    """Runs toy_process.py; see there for the arguments."""

    def __init__(self, folder: Path, mode: str, block: dict[str, Any], stop_in: int = 0) -> None:
        command = [sys.executable, str(SCRIPT), str(folder), mode, json.dumps(block), str(stop_in)]
        folder.mkdir(exist_ok=True)
        self._log = folder / "log"
        # A session of its own: what Ray starts for it can be told from what runs for the tests.
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )

    @property
    def log(self) -> str:
        """What it wrote for people."""
        return self._log.read_text()

    def __enter__(self) -> TrainerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing of it stays, whatever became of the test."""
        self.kill()

    def says(self) -> Iterator[dict[str, Any]]:
        """What it says, until its output ends. verl's own lines are left out."""
        assert self._process.stdout is not None
        yield from (json.loads(line) for line in self._process.stdout if line.startswith("{"))

    def says_until(self, key: str) -> Iterator[dict[str, Any]]:
        """What it says, up to the first that has `key`."""
        for said in self.says():
            yield said
            if key in said:
                return
        raise AssertionError(f"the trainer ended before it said {key}")

    def kill(self) -> None:
        """SIGKILL to the trainer; then to what Ray would leave of it (its dashboard's processes outlive a killed driver)."""
        self._process.kill()
        self._process.wait()
        for pid in _session(self._process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._gone()

    def ended(self) -> int:
        """Its exit status, once it and what Ray ran for it are gone."""
        self._process.wait(timeout=60)
        self._gone()
        return self._process.returncode

    def _gone(self) -> None:
        if self._process.stdout is not None:
            self._process.stdout.close()
        eventually("Ray's processes ended", lambda: not _session(self._process.pid), seconds=60)


def _session(leader: int) -> list[int]:
    """Living processes of a session (Linux; elsewhere unknown)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # After the name in parentheses: state, parent, group, session.
            state, _, _, session = path.read_text().rsplit(")", 1)[1].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(session) == leader and state != "Z":
            found.append(int(path.parent.name))
    return found

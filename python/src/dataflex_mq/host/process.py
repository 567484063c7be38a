"""What a Python process of a worker does to itself before it imports anything of a user's."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import signal
import sys
import threading
from typing import Any

_PR_SET_PDEATHSIG = 1


class Control:
    """The channel to the worker that started this process: a line of JSON for each phase. Its end means that the worker has gone."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor

    def report(self, message: dict[str, Any]) -> None:
        line = memoryview(json.dumps(message).encode() + b"\n")
        while line:
            line = line[os.write(self._descriptor, line) :]

    def end_with_parent(self) -> None:
        """Ends this process as soon as the channel does."""
        threading.Thread(target=self._watch, name="dataflex-mq-parent", daemon=True).start()

    def close(self) -> None:
        os.close(self._descriptor)

    def _watch(self) -> None:
        while os.read(self._descriptor, 64):
            pass
        os._exit(0)


def isolate(parent: int, memory_bytes: int | None) -> None:
    """
    Standard input is empty and standard output goes where errors go, so that nothing a plugin prints can break anything. The process
    ends with its parent, also when that is killed, and dumps its threads at SIGTERM.
    """
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(file=2, all_threads=True)
    faulthandler.register(signal.SIGTERM, file=2, all_threads=True, chain=False)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
    if memory_bytes is not None:
        _limit_memory(memory_bytes)


def _limit_memory(memory_bytes: int) -> None:
    import resource

    # A GPU's driver reserves terabytes of addresses: on Linux only memory that is written to is counted.
    limit = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    resource.setrlimit(limit, (memory_bytes, memory_bytes))

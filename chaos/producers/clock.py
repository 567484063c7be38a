"""The wall clock of a producer, moved from outside as clock.mjs does it for Node; the monotonic clock stays."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def install() -> None:
    """Moves `time.time` by the milliseconds that the file DFX_CHAOS_CLOCK holds, read now and at every SIGUSR2."""
    file, now, now_ns = Path(os.environ["DFX_CHAOS_CLOCK"]), time.time, time.time_ns
    offset = 0.0

    def read(*_: object) -> None:
        nonlocal offset
        offset = float(file.read_text() or 0) / 1000 if file.exists() else 0.0

    time.time = lambda: now() + offset
    time.time_ns = lambda: now_ns() + int(offset * 1e9)
    read()
    signal.signal(signal.SIGUSR2, read)

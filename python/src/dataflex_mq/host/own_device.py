"""Where components compute: `cpu`, or the one GPU that the worker has made visible to this process."""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import dataclass
from typing import Any


class DeviceError(Exception):
    """A GPU was asked for and cannot be used."""


@dataclass(frozen=True)
class Device:
    """`name` is what torch calls it; `model` what the driver does; `reason` why it is the CPU although a GPU may be there."""

    name: str
    model: str = ""
    reason: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"name": self.name, "model": self.model, "reason": self.reason}


def open_device(asked: str) -> Device:
    """`auto`: a GPU where one is visible and torch can use it. `cuda`: that, or DeviceError. `cpu`: no torch is imported for it."""
    if asked == "cpu":
        return Device("cpu")
    if asked == "auto" and not os.environ.get("CUDA_VISIBLE_DEVICES") and "torch" not in sys.modules:
        return Device("cpu")
    reason = _unusable()
    if reason is None:
        import torch

        return Device("cuda:0", torch.cuda.get_device_name(0))
    if asked == "auto":
        return Device("cpu", reason=reason)
    raise DeviceError(f"device {asked} was asked for and cannot be used: {reason}")


def _unusable() -> str | None:
    """Why no GPU can be used; None if one can: proven by one real operation."""
    try:
        import torch
    except ImportError as thrown:
        return f"torch cannot be imported ({thrown}); install it: pip install 'dataflex_mq[torch]'"
    if torch.version.cuda is None and torch.version.hip is None:
        return f"torch {torch.__version__} is a build without CUDA"
    try:
        if not torch.cuda.is_available():
            return f"torch {torch.__version__} finds no usable GPU"
        torch.ones(2, device="cuda:0").sum().item()
    except Exception as thrown:
        return f"its first operation failed: {thrown}"
    return None


def memory_use(device: Device) -> dict[str, int]:
    """Bytes that this process holds: in memory, and on its GPU."""
    found: dict[str, Any] = {}
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            found["rss_bytes"] = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        found["rss_bytes"] = 0
    torch = sys.modules.get("torch")
    found["gpu_bytes"] = torch.cuda.memory_reserved(0) if torch is not None and device.name != "cpu" else 0
    return found


def give_memory_back(device: Device) -> None:
    """Memory that torch keeps for reuse goes back to the GPU, so that what did not fit in pieces may fit now."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and device.name != "cpu":
        torch.cuda.empty_cache()

"""
Frames of the private socket between a worker and its Python process: u32 header length, msgpack header, and bodies, each beginning at a
multiple of 64 bytes from the start of the frame. The header's `bodies` holds their lengths.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

import msgpack
import numpy as np

from .pool import Pool

ALIGNMENT = 64
MAX_HEADER = 64 << 20
MAX_BODIES = 8 << 30
# One call never asks the kernel for more than it can count.
_MAX_CALL = 1 << 30


class FrameError(Exception):
    """The other side does not speak this protocol, or more than its limits allow."""


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def receive(connection: socket.socket, pool: Pool) -> tuple[dict[str, Any], list[np.ndarray]] | None:
    """The next frame, its bodies as uint8 arrays in memory of the pool; None when the other side has gone. Raises FrameError."""
    prefix = bytearray(4)
    if not _fill(connection, memoryview(prefix)):
        return None
    (length,) = struct.unpack("<I", prefix)
    if length > MAX_HEADER:
        raise FrameError(f"a header of {length} bytes, the limit is {MAX_HEADER}")
    rest = bytearray(aligned(4 + length) - 4)
    if not _fill(connection, memoryview(rest)):
        return None
    header = msgpack.unpackb(memoryview(rest)[:length], strict_map_key=False)
    sizes = header.get("bodies", [])
    total = sum(aligned(size) for size in sizes)
    if total > MAX_BODIES:
        raise FrameError(f"bodies of {total} bytes, the limit is {MAX_BODIES}")
    buffer = pool.take(total)
    if total > 0 and not _fill(connection, buffer.data):
        return None
    bodies = []
    start = 0
    for size in sizes:
        bodies.append(buffer[start : start + size])
        start += aligned(size)
    return header, bodies


def send(connection: socket.socket, header: dict[str, Any], bodies: list[np.ndarray] | None = None) -> None:
    """Sends a frame; bodies are contiguous arrays. Raises FrameError for one beyond the limits, OSError when the other side has gone."""
    parts = [np.ascontiguousarray(body).reshape(-1).view(np.uint8) for body in bodies or []]
    packed = msgpack.packb({**header, "bodies": [len(part) for part in parts]})
    if len(packed) > MAX_HEADER:
        raise FrameError(f"a header of {len(packed)} bytes, the limit is {MAX_HEADER}")
    head = struct.pack("<I", len(packed)) + packed
    connection.sendall(head + bytes(aligned(len(head)) - len(head)))
    for part in parts:
        connection.sendall(part.data)
        if len(part) % ALIGNMENT:
            connection.sendall(bytes(aligned(len(part)) - len(part)))


def _fill(connection: socket.socket, view: memoryview) -> bool:
    """Fills `view`; False when the other side has gone before."""
    at = 0
    while at < len(view):
        count = connection.recv_into(view[at : at + _MAX_CALL])
        if count == 0:
            return False
        at += count
    return True

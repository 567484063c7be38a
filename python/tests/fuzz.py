"""
Mutated messages into everything that this client reads: each is taken, or refused by one typed error, soon and in little memory.

    PYTHONPATH=src python tests/fuzz.py --inputs 1000000
"""

from __future__ import annotations

import argparse
import copy
import random
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgpack

from dataflex_mq import DataflexError
from dataflex_mq.client.outcomes import Outcome, attempt_of, decode_outcome, put_hashes
from dataflex_mq.client.state import _unpack_entry
from dataflex_mq.columns.limits import DEFAULT_LIMITS
from dataflex_mq.protocol.check_messages import check_handle, check_mount_reply, check_outcome_header
from dataflex_mq.protocol.codec import unpack
from dataflex_mq.redis.stored_puts import _parse
from dataflex_mq.redis.streams import Entry

# What one input may take, and what it may allocate.
SECONDS = 1.0
BYTES = 64 << 20

PRODUCER = {"worker": "w", "pid": 1, "job_id": "j"}
OUTCOME = {"v": 2, "pipeline": "main", "stage": "post_advantage", "attempt": 1, "producer": PRODUCER}
COLUMNS = [
    {"name": "weights", "enc": "dense", "dtype": "f32", "shape": [2], "parts": {"values": [0, 8]}},
    {
        "name": "mask",
        "enc": "lengths",
        "dtype": "bool",
        "shape": [2, 3],
        "scope": "response",
        "parts": {"lengths": [8, 8]},
    },
]
BODY = bytes(8) + b"\3\0\0\0\2\0\0\0"
RESULT = {
    **OUTCOME,
    "kind": "result",
    "bytes": 16,
    "chunks": 1,
    "chunk_bytes": 1 << 20,
    "mechanism": "reweight",
    "granularity": "row",
    "rows": 2,
    "ranges": [0, 2],
    "width": 3,
    "columns": COLUMNS,
    "metrics": {"a": 1.5},
    "flags": ["all_zero"],
    "warnings": [],
    "timings": {"score": 1.0},
    "stats": {"n": 2, "mean": 1.0},
    "proportions": {"math": 0.5},
}
FAILURE = {**OUTCOME, "kind": "failure", "code": "DECODE", "message": "m", "details": {"row": 1}}
FIELDS = [{"name": "advantages", "scope": "mask"}]
SPEC = {
    "name": "main",
    "mechanism": "reweight",
    "stage": "post_advantage",
    "actuator": {"name": "softmax", "params": {"temperature": 1.0}},
    "fields": FIELDS,
    "fingerprint": "f",
    "granularity": "row",
    "shadow": False,
}
HANDLE = {
    "v": 2,
    "run": "r",
    "mount_id": "m",
    "limits": dict(DEFAULT_LIMITS),
    "stages": {"post_advantage": FIELDS},
    "pipelines": [SPEC],
    "composition": {"combine": "multiply", "rescale": "none", "clip": [0.1, 2.0]},
    "max_wait_ms": 1000,
    "on_unavailable": "error",
    "warnings": [],
    "incarnation": 1,
}
REPLY = {"state": "answered", "answer": {"ok": False, "code": "CONFIG", "message": "m", "problems": [{"path": []}]}}
STATE = [1, "reward_gap {}", [["math", 1.0, 2]]]


def _outcome(data: bytes, rng: random.Random) -> None:
    header = check_outcome_header(unpack(data))
    body = bytearray(BODY)
    body[rng.randrange(len(body))] ^= rng.choice([0, 1, 0x80, 0xFF])
    decode_outcome(HANDLE, Outcome(header, bytes(body)))


def _entry(data: bytes, _rng: random.Random) -> None:
    entry = Entry("1-1", {"attempt": data[:8], "puts": data})
    put_hashes(entry)
    attempt_of(entry)


# Each thing that is read: an example of it, and what reads it.
READERS: list[tuple[str, Any, Callable[[bytes, random.Random], Any]]] = [
    ("result", RESULT, _outcome),
    ("failure", FAILURE, _outcome),
    ("handle", HANDLE, lambda data, _: check_handle(unpack(data))),
    ("mount reply", REPLY, lambda data, _: check_mount_reply(unpack(data))),
    ("state", STATE, lambda data, _: _unpack_entry(data)),
    ("receipt", [], lambda data, _: _parse(data)),
    ("outcome entry", [], _entry),
]
HOSTILE: list[Any] = [
    None, True, -1, 0, 1.5, float("nan"), float("inf"), 2**31, 2**53, 2**53 + 2, 2**63, "", "x", "\0", "constructor",
    "é" * 40, b"", b"\xff\xfe", [], [[]], {}, {"a": 1}, {"__proto__": 1}, [0, 2**32], "9" * 400, [[0, 8]] * 9,
]  # fmt: skip


def mutated(value: Any, rng: random.Random) -> Any:
    """One place of a message is another value, gone, there twice, or from elsewhere in it."""
    out = copy.deepcopy(value)
    here = out
    while isinstance(here, (dict, list)) and here:
        key = rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
        if not isinstance(here[key], (dict, list)) or not here[key] or rng.random() < 0.2:
            if rng.random() < 0.2:
                del here[key]
            else:
                here[key] = copy.deepcopy(rng.choice(HOSTILE))
            return out
        here = here[key]
    return rng.choice(HOSTILE)


def inputs(example: Any, rng: random.Random) -> bytes:
    value = example
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        value = mutated(value, rng)
    try:
        data = bytearray(msgpack.packb(value, use_bin_type=True))
    except (OverflowError, ValueError):
        data = bytearray(rng.randbytes(12))
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.randrange(len(data))]) if rng.random() < 0.05 else bytes(data)


def run(count: int, seed: int) -> dict[str, int]:
    """How many inputs were taken and refused. Raises AssertionError for an untyped error, a slow input, or one that takes memory."""
    rng = random.Random(seed)
    told = {"taken": 0, "refused": 0}
    tracemalloc.start()
    for i in range(count):
        what, example, read = READERS[i % len(READERS)]
        data = inputs(example, rng)
        begun = time.perf_counter()
        try:
            read(data, rng)
            told["taken"] += 1
        except DataflexError:
            told["refused"] += 1
        except Exception as caught:
            raise AssertionError(f"{what} {data!r} (input {i} of seed {seed}): {caught!r}") from caught
        assert time.perf_counter() - begun < SECONDS, f"{what} {data!r} took too long"
        if i % 1000 == 0:
            assert tracemalloc.get_traced_memory()[1] < BYTES, f"{what}: memory"
    assert tracemalloc.get_traced_memory()[1] < BYTES
    tracemalloc.stop()
    return told


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(run(asked.inputs, asked.seed))

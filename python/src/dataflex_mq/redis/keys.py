"""Every name that the client uses in Redis; `dfx2` carries the protocol's major version."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

PREFIX = "dfx2"
CONTROL = f"{PREFIX}:control"
BROKERS = f"{PREFIX}:brokers"
WORKERS = f"{PREFIX}:workers"

HEARTBEAT_MS = 3_000
HEARTBEAT_TTL_MS = 10_000
# A client that still waits claims again every few seconds.
CLAIM_TTL_MS = 60_000
MOUNT_TTL_MS = 86_400_000
STATE_TTL_MS = 7 * 86_400_000
# Number of hash tags of the key space: 1, since clusters are not supported yet.
SHARDS = 1
# Digits of a content hash that name a put's stream, and the puts from which an outcome was computed.
HASH_DIGITS = 16


def reply_key(mount_id: str) -> str:
    return f"{PREFIX}:reply:{mount_id}"


def encode_run(run: str) -> str:
    """
    Any run id as `[A-Za-z0-9._-]{1,96}`, injectively: other bytes become `.xx`, a long id ends in a hash of all of it. The first letter
    of a word that stands where a run's name does, in keys of histories, becomes `.xx` too.
    """
    if run in ("history", "history-rows"):
        return f".68{run[1:]}"
    data = run.encode()
    out = re.sub(rb"[^A-Za-z0-9_-]", lambda byte: b".%02x" % byte.group()[0], data).decode()
    if len(out) <= 96:
        return out
    return f"{out[:60]}..{hashlib.sha256(data).hexdigest()[:32]}"


def step_key(step: int, trigger: int = 0) -> str:
    """`(global_steps, trigger)` as it stands in keys."""
    return f"{step}.{trigger}"


def crc16(text: str) -> int:
    """CRC-16/XMODEM; it spreads runs over the hash tags."""
    crc = 0
    for byte in text.encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021) & 0xFFFF if crc & 0x8000 else (crc << 1) & 0xFFFF
    return crc


@dataclass(frozen=True, slots=True)
class StepKeys:
    prefix: str

    @property
    def status(self) -> str:
        return f"{self.prefix}status"

    @property
    def puts(self) -> str:
        return f"{self.prefix}puts"

    @property
    def out(self) -> str:
        return f"{self.prefix}out"

    def put(self, stage: str, put_id: str, content_hash: str) -> str:
        """Different content never goes into the same stream."""
        return f"{self.prefix}{stage}:{put_id}.{content_hash[:HASH_DIGITS]}"

    def result(self, pipeline: str, token: str) -> str:
        return f"{self.prefix}w:{pipeline}:{token}"


@dataclass(frozen=True, slots=True)
class RunKeys:
    base: str
    encoded: str

    @property
    def _run(self) -> str:
        return f"{self.base}:{self.encoded}"

    @property
    def announce(self) -> str:
        return f"{self.base}:announce"

    @property
    def notices(self) -> str:
        return f"{self.base}:notices"

    @property
    def runs(self) -> str:
        return f"{self.base}:runs"

    @property
    def mount(self) -> str:
        return f"{self._run}:mount"

    def claim(self, mount_id: str) -> str:
        return f"{self._run}:claim:{mount_id}"

    @property
    def trainer(self) -> str:
        return f"{self._run}:trainer"

    @property
    def steps(self) -> str:
        return f"{self._run}:steps"

    def state(self, pipeline: str) -> str:
        return f"{self._run}:mix:{pipeline}"

    def step(self, incarnation: int, step: str) -> StepKeys:
        return StepKeys(f"{self._run}:{incarnation}:{step}:")


def run_keys(run: str) -> RunKeys:
    encoded = encode_run(run)
    return RunKeys(f"{PREFIX}:{{{crc16(encoded) % SHARDS}}}", encoded)


def queue_name(stage: str, fingerprint: str) -> str:
    return f"{stage}.{fingerprint}"

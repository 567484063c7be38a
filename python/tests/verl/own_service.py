"""A whole service of a test's own, to be killed and to come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from helpers.processes import PrivateRedis, Service, eventually, start_services


class OwnService:
    def __init__(self) -> None:
        self.redis = PrivateRedis()
        self.url = self.redis.url
        self._running: list[Service] = []
        self.start()

    def start(self) -> None:
        self._running = list(start_services(self.url))

    def kill(self) -> None:
        """Broker and worker; Redis stays."""
        for one in self._running:
            one.kill()

    def empty(self) -> None:
        """Redis ends and comes back with nothing in it; broker and worker find it again."""
        self.redis.stop()
        self.back()

    def back(self) -> None:
        self.redis.start()
        eventually(
            "broker and worker are back", lambda: self.redis.client().exists("dfx2:brokers", "dfx2:workers") == 2
        )

    def close(self) -> None:
        for one in self._running:
            one.close()
        self.redis.close()


@contextmanager
def own_service() -> Iterator[OwnService]:
    service = OwnService()
    try:
        yield service
    finally:
        service.close()

"""Real servers for whoever asks. One Redis, broker and worker serve the tests that leave them alive."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from helpers.processes import PrivateRedis, start_services

from dataflex_mq import Client

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[PrivateRedis]:
    server = PrivateRedis()
    yield server
    server.close()


@pytest.fixture(scope="session")
def service(redis_server: PrivateRedis) -> Iterator[PrivateRedis]:
    """The address of a whole service."""
    running = start_services(redis_server.url)
    yield redis_server
    for one in running:
        one.close()


@pytest.fixture
def client(service: PrivateRedis) -> Iterator[Client]:
    with Client(service.url) as client:
        yield client


@pytest.fixture
def run_id() -> str:
    return f"run-{next(_NUMBERS)}"

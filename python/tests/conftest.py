"""Real servers, started on demand. One Redis, broker and worker serve the tests that leave them alive."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator

import pytest

from dataflex_mq import Client
from helpers.processes import PrivateRedis, start_services


def _installed(package: str) -> bool:
    """A folder of tests with that name does not count."""
    spec = importlib.util.find_spec(package)
    return spec is not None and spec.origin is not None


# torch and verl are optional: their tests run where they are installed (scripts/python-tests.sh --torch).
collect_ignore = [folder for folder, package in (("with_torch", "torch"), ("verl", "verl")) if not _installed(package)]

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

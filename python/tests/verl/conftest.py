"""The real verl and TransferQueue on a local Ray, with the real service. Without verl installed (scripts/verl-tests.sh) nothing runs."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

import pytest
from local_queue import local_queue
from own_service import OwnService, own_service

try:
    metadata.version("verl")
except metadata.PackageNotFoundError:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def queue() -> Iterator[None]:
    """A TransferQueue in a local Ray."""
    with local_queue():
        yield


@pytest.fixture
def own() -> Iterator[OwnService]:
    """A service that a test may break."""
    with own_service() as service:
        yield service

"""The real verl and TransferQueue on a local Ray, with the real service. Without verl installed (scripts/verl-tests.sh) nothing runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import metadata

import pytest

try:
    metadata.version("verl")
except metadata.PackageNotFoundError:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def queue() -> Iterator[None]:
    """A TransferQueue in a local Ray."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray
    import transfer_queue as tq

    ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False, object_store_memory=128 << 20)
    tq.init()
    yield
    tq.close()
    ray.shutdown()

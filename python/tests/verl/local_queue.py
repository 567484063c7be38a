"""A TransferQueue in a Ray of this process's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def local_queue() -> Iterator[None]:
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray
    import transfer_queue as tq

    ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False, object_store_memory=128 << 20)
    tq.init()
    try:
        yield
    finally:
        tq.close()
        ray.shutdown()

"""A failover to a replica that lags behind."""

from __future__ import annotations

from collections.abc import Callable

import redis


def lagging(server: redis.Redis) -> Callable[[], None]:
    """
    What a replica has when it is promoted: the server as it was at the call. The function that comes back puts the server into that state,
    whatever was acknowledged in between.
    """
    keys = server.keys("*")
    values = [(key, server.dump(key), server.pttl(key)) for key in keys]

    def promote() -> None:
        promoting = server.pipeline(transaction=True).flushall()
        for key, dump, ttl in values:
            if dump is not None:
                promoting.restore(key, max(ttl, 0), dump)
        promoting.execute()

    return promote

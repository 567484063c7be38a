"""Takes the run for a trainer."""

from __future__ import annotations

import time

from ..client.client import Client
from ..client.run import Run
from ..errors import MountError
from ..redis.keys import HEARTBEAT_TTL_MS
from .log import log
from .settings import Settings

PAUSE_SECONDS = 0.5


def mount(client: Client, settings: Settings) -> Run:
    """
    A trainer that was killed leaves its run busy until its heartbeat lapses: a job that is restarted at once waits for that, and no longer,
    since a heartbeat that goes on is a trainer that lives. Raises what `Client.mount` raises.
    """
    end = time.monotonic() + min(settings.mount_timeout, 1.5 * HEARTBEAT_TTL_MS / 1000)
    warned = False
    while True:
        try:
            run = client.mount(
                settings.run_id,
                settings.dataflex,
                adv_estimator=settings.adv_estimator,
                provides=settings.provides,
                group_size=settings.group_size,
                trainer=settings.trainer,
                timeout=settings.mount_timeout,
            )
            break
        except MountError as caught:
            if caught.code != "RUN_BUSY" or time.monotonic() > end:
                raise
            if not warned:
                log.warning(
                    'dataflex: run "%s" is busy: waiting for the heartbeat of the previous trainer to lapse',
                    settings.run_id,
                )
            warned = True
            time.sleep(PAUSE_SECONDS)
    for warning in run.handle["warnings"]:
        log.warning("dataflex: %s", warning)
    names = ", ".join(f"{one['name']} ({one['stage']})" for one in run.handle["pipelines"])
    log.info('dataflex: run "%s", incarnation %s: %s', settings.run_id, run.handle["incarnation"], names)
    return run

"""The trainers' log: as loud as verl's own, whose root logger would keep what is said at mount to itself."""

from __future__ import annotations

import logging
import os

log = logging.getLogger("dataflex_mq")
if log.level == logging.NOTSET:
    log.setLevel(os.getenv("VERL_LOGGING_LEVEL", "INFO"))

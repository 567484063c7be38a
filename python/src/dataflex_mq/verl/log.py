"""The trainers' log, at verl's own level: under verl's root logger what is logged at mount would not appear."""

from __future__ import annotations

import logging
import os

log = logging.getLogger("dataflex_mq")
if log.level == logging.NOTSET:
    log.setLevel(os.getenv("VERL_LOGGING_LEVEL", "INFO"))

"""What a Redis that answers refuses commands with, as typed errors."""

from __future__ import annotations

import re
from typing import NamedTuple

import redis

from ..errors import DataflexError
from ..sentences import error_of


class Refusal(NamedTuple):
    """key: its sentence. heals: it may pass. elsewhere: the server is not a master (any more), and another one may be by now."""

    key: str
    heals: bool = True
    elsewhere: bool = False


REFUSALS = {
    "READONLY": Refusal("REDIS_REFUSED.READONLY", elsewhere=True),
    "MASTERDOWN": Refusal("REDIS_REFUSED.MASTERDOWN", elsewhere=True),
    "MISCONF": Refusal("REDIS_REFUSED.MISCONF"),
    "LOADING": Refusal("REDIS_REFUSED.LOADING"),
    "NOREPLICAS": Refusal("REDIS_REFUSED.NOREPLICAS"),
    "BUSY": Refusal("REDIS_REFUSED.BUSY"),
    "CLUSTERDOWN": Refusal("REDIS_REFUSED.CLUSTERDOWN"),
    "TRYAGAIN": Refusal("REDIS_REFUSED.CLUSTERDOWN"),
    "OOM": Refusal("REDIS_FULL", heals=False),
    "NOPERM": Refusal("REDIS_DENIED", heals=False),
    # The last: a transaction names what refused one of its commands before it says that it was given up.
    "EXECABORT": Refusal("REDIS_REFUSED.EXECABORT"),
}

# redis-py takes the first word off where it has a class for it.
_CLASSES: list[tuple[type[Exception], str]] = [
    (redis.exceptions.ReadOnlyError, "READONLY"),
    (redis.exceptions.BusyLoadingError, "LOADING"),
    (redis.exceptions.MasterDownError, "MASTERDOWN"),
    (redis.exceptions.ClusterDownError, "CLUSTERDOWN"),
    (redis.exceptions.TryAgainError, "TRYAGAIN"),
    (redis.exceptions.OutOfMemoryError, "OOM"),
    (redis.exceptions.NoPermissionError, "NOPERM"),
    (redis.exceptions.ExecAbortError, "EXECABORT"),
]
_NO_RIGHT_IN_SCRIPT = "The user executing the script can't"


def refusal_word(cause: BaseException) -> str | None:
    """The word with which Redis refused a command, also one inside a script; None for any other error."""
    for kind, word in _CLASSES:
        if isinstance(cause, kind):
            return word
    if not isinstance(cause, redis.exceptions.ResponseError):
        return None
    message = str(cause)
    if _NO_RIGHT_IN_SCRIPT in message:
        return "NOPERM"
    # Redis 6 quotes what a script's command was refused with: "Error running script …: -READONLY You can't …".
    return next((word for word in REFUSALS if re.search(rf"(^|-){word}\b", message)), None)


def typed_refusal(cause: BaseException, what: str) -> DataflexError | None:
    """REDIS_REFUSED, REDIS_FULL or REDIS_DENIED; None where Redis has not refused. what: was attempted."""
    word = refusal_word(cause)
    if word is None:
        return None
    facts = {"what": what, "word": word, "answer": str(cause)}
    return error_of(REFUSALS[word].key, facts, **facts)


def is_elsewhere(cause: BaseException) -> bool:
    """Whether what refuses here is no master: another server may be by now."""
    word = refusal_word(cause)
    return word is not None and REFUSALS[word].elsewhere

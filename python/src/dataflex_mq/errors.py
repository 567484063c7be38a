"""Every typed error. The table is that of the service (`src/errors.ts`, docs/errors.md); a test compares the two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class ErrorKind(NamedTuple):
    where: str
    retryable: bool
    exit: int


ERROR_CODES: dict[str, ErrorKind] = {
    # wrong input from the caller
    "USAGE": ErrorKind("command", False, 2),
    "CONFIG": ErrorKind("mount", False, 2),
    "INVALID_INPUT": ErrorKind("client", False, 2),
    "LIMIT": ErrorKind("protocol", False, 1),
    # the wire
    "DECODE": ErrorKind("protocol", False, 1),
    "PROTOCOL_VERSION": ErrorKind("mount", False, 2),
    # mount
    "NO_BROKER": ErrorKind("mount", True, 1),
    "NO_WORKER": ErrorKind("mount", True, 1),
    "RUN_BUSY": ErrorKind("mount", False, 1),
    "NOT_MOUNTED": ErrorKind("mount", False, 1),
    "FENCED": ErrorKind("put", False, 1),
    # put
    "PUT_CONFLICT": ErrorKind("put", False, 1),
    "ROWS_CONFLICT": ErrorKind("put", False, 1),
    "CHUNKS_MISSING": ErrorKind("put", True, 1),
    "RELEASED": ErrorKind("put", False, 1),
    # score and act
    "NON_FINITE": ErrorKind("score", False, 1),
    "INCOMPLETE_GROUP": ErrorKind("score", False, 1),
    "EMPTY_SELECTION": ErrorKind("act", False, 1),
    "COMPONENT": ErrorKind("score", False, 1),
    "PLUGIN": ErrorKind("worker", False, 2),
    "COMPONENT_UNKNOWN": ErrorKind("worker", False, 1),
    "COMPUTE_TIMEOUT": ErrorKind("worker", False, 1),
    "COMPUTE_LOST": ErrorKind("worker", True, 1),
    "OUT_OF_MEMORY": ErrorKind("worker", True, 1),
    "POISON": ErrorKind("worker", False, 1),
    "EXPIRED": ErrorKind("worker", False, 1),
    "INTERNAL": ErrorKind("worker", True, 1),
    # waiting
    "TIMEOUT": ErrorKind("weights", True, 1),
    "CLOSED": ErrorKind("client", False, 1),
    # Redis
    "REDIS_UNREACHABLE": ErrorKind("redis", True, 3),
    "REDIS_CONFIG": ErrorKind("redis", False, 2),
    "REDIS_FULL": ErrorKind("redis", True, 1),
    "REDIS_REFUSED": ErrorKind("redis", True, 3),
    "REDIS_DENIED": ErrorKind("redis", False, 2),
    "BACKEND": ErrorKind("worker", False, 2),
}


class DataflexError(Exception):
    """An error with a `code` of the table, and the offending values (field, row, column, limit …) in `details`."""

    def __init__(self, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, Any] = dict(details or {})

    @property
    def retryable(self) -> bool:
        """Whether trying the same again can help."""
        return ERROR_CODES[self.code].retryable

    def __str__(self) -> str:
        return f"[{self.code}] {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message, self.details)


class InputError(DataflexError):
    """The caller's: a field, a row, a configuration or an address is wrong."""


class WireError(DataflexError):
    """Bytes or a version that this client does not read."""


class MountError(DataflexError):
    """The run could not be taken or joined."""


class FencedError(DataflexError):
    """A later trainer has taken the run: this one must stop."""


class PutError(DataflexError):
    """A put was refused."""


class ServiceFailure(DataflexError):  # noqa: N818
    """The failure that settled a pipeline's step, in the service."""


class WaitTimeout(DataflexError):  # noqa: N818
    """No weights within the deadline; the message says what was missing."""


class ClosedError(DataflexError):
    """The client or the run was closed."""


class RedisError(DataflexError):
    """Redis is away, full, refuses commands, or is set up so that it could lose a step."""


_CLASSES: dict[type[DataflexError], str] = {
    InputError: "USAGE CONFIG INVALID_INPUT LIMIT",
    WireError: "DECODE PROTOCOL_VERSION",
    MountError: "NO_BROKER NO_WORKER RUN_BUSY NOT_MOUNTED",
    FencedError: "FENCED",
    PutError: "PUT_CONFLICT ROWS_CONFLICT CHUNKS_MISSING RELEASED",
    ServiceFailure: "NON_FINITE INCOMPLETE_GROUP EMPTY_SELECTION COMPONENT PLUGIN COMPONENT_UNKNOWN COMPUTE_TIMEOUT "
    "COMPUTE_LOST OUT_OF_MEMORY POISON EXPIRED INTERNAL BACKEND",
    WaitTimeout: "TIMEOUT",
    ClosedError: "CLOSED",
    RedisError: "REDIS_UNREACHABLE REDIS_CONFIG REDIS_FULL REDIS_REFUSED REDIS_DENIED",
}
_CLASS_OF = {code: cls for cls, codes in _CLASSES.items() for code in codes.split()}


def error(code: str, message: str, details: Mapping[str, Any] | None = None) -> DataflexError:
    """The error of a code, in the class of its group; a code of a later version becomes INTERNAL, itself in the details."""
    if code not in ERROR_CODES:
        return ServiceFailure("INTERNAL", message, {**(details or {}), "code": code})
    return _CLASS_OF[code](code, message, details)

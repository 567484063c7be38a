"""Answers calls on the private socket, one after another."""

from __future__ import annotations

import os
import socket
import sys
import traceback
from collections.abc import Iterable
from typing import Any

import numpy as np

from .call import Caller
from .failures import failure_of, report
from .frames import FrameError, receive, send
from .own_device import Device, give_memory_back, memory_use
from .pool import Pool


class Server:
    """
    Listens on `path`. The worker's thread connects, and another one after it if that was ended: the latest connection counts. A forked
    copy of this process never answers.
    """

    def __init__(self, path: str, caller: Caller, device: Device, roots: Iterable[str]) -> None:
        self._caller = caller
        self._device = device
        self._roots = tuple(roots)
        self._pool = Pool()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen(4)
        self._connection: socket.socket | None = None
        os.register_at_fork(after_in_child=self._forget)

    def serve(self) -> None:
        """For ever; the end of the parent ends it."""
        while True:
            self._connection, _ = self._listener.accept()
            with self._connection as connection:
                try:
                    while self._answer(connection):
                        pass
                except (FrameError, OSError) as thrown:
                    report(thrown)

    def _answer(self, connection: socket.socket) -> bool:
        frame = receive(connection, self._pool)
        if frame is None:
            return False
        call, bodies = frame
        reply, values = self._call(call, bodies)
        del frame, bodies
        sys.stdout.flush()
        sys.stderr.flush()
        send(connection, {"id": call["id"], **reply, "memory": memory_use(self._device)}, values)
        return True

    def _call(self, call: dict[str, Any], bodies: list[np.ndarray]) -> tuple[dict[str, Any], list[np.ndarray]]:
        try:
            answer = self._caller.run(call, bodies)
        except BaseException as thrown:
            report(thrown)
            failure = failure_of(thrown, f"{call['kind']} '{call['name']}'", self._roots)
            if failure["code"] == "OUT_OF_MEMORY":
                # What its frames hold, the next step needs.
                traceback.clear_frames(thrown.__traceback__)
                give_memory_back(self._device)
            return {"failure": failure}, []
        reply = {
            "form": answer.form,
            "facts": answer.facts,
            "warnings": answer.warnings,
            "metrics": answer.metrics,
        }
        if answer.values is None:
            return reply, []
        return {**reply, "type": answer.values.dtype.str[1:]}, [answer.values]

    def _forget(self) -> None:
        """In a forked copy: the sockets are the original's."""
        self._listener.close()
        if self._connection is not None:
            self._connection.close()

"""A TCP front for a private Redis that hears what clients say, and breaks connections on purpose."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading


class FaultProxy:
    def __init__(self, unix_path: str) -> None:
        self._path = unix_path
        self._silent: set[socket.socket] = set()
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._cut_next_answer = False
        # What clients said, piece by piece as it came.
        self.heard: list[bytes] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._server.getsockname()[1]}"
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._server, selectors.EVENT_READ)
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="fault-proxy", daemon=True)
        self._thread.start()

    def blackhole(self) -> None:
        """What is connected now hears nothing any more; no error, no end."""
        self._silent |= set(self._pairs)

    def cut_next_answer(self) -> None:
        """The server does what the next command says; its answer is lost with the connection."""
        self._cut_next_answer = True

    def close(self) -> None:
        self._stopping = True
        self._thread.join(timeout=5)
        for one in [*self._pairs, self._server]:
            one.close()
        self._selector.close()

    def _run(self) -> None:
        while not self._stopping:
            for key, _ in self._selector.select(timeout=0.05):
                if key.fileobj is self._server:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket):
                    self._forward(key.fileobj, key.data)

    def _accept(self) -> None:
        client, _ = self._server.accept()
        upstream = socket.socket(socket.AF_UNIX)
        upstream.connect(self._path)
        self._pairs |= {client: upstream, upstream: client}
        self._selector.register(client, selectors.EVENT_READ, "client")
        self._selector.register(upstream, selectors.EVENT_READ, "server")

    def _forward(self, source: socket.socket, side: str) -> None:
        data = b""
        with contextlib.suppress(OSError):
            data = source.recv(1 << 16)
        if source in self._silent and data:
            return
        if side == "client" and data:
            self.heard.append(data)
        if side == "server" and self._cut_next_answer:
            self._cut_next_answer, data = False, b""
        if data:
            with contextlib.suppress(OSError):
                self._pairs[source].sendall(data)
            return
        for one in (source, self._pairs[source]):
            self._selector.unregister(one)
            self._pairs.pop(one)
            one.close()

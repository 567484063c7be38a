"""A trainer's process: `python producer.py REDIS_URL`, driven by JSON lines (protocol.ts). producer.ts is the same in TypeScript."""

from __future__ import annotations

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import clock
import numpy as np

from dataflex_mq import Client, DataflexError, Run


class Producer:
    def __init__(self, url: str) -> None:
        self._client = Client(url)
        self._run: Run | None = None
        self._writing = threading.Lock()

    def serve(self, request: dict[str, Any]) -> None:
        try:
            value = getattr(self, f"_{request['op']}")(request)
            self.reply({"id": request["id"], "value": value})
        except DataflexError as error:
            self.reply({"id": request["id"], "error": {"code": error.code, "message": str(error)}})
        except Exception as error:
            # An error without a code is a fault of its own: the harness counts it as such.
            name = f"UNTYPED {type(error).__name__}"
            self.reply({"id": request["id"], "error": {"code": name, "message": str(error)}})

    def reply(self, line: dict[str, Any]) -> None:
        with self._writing:
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()

    @property
    def _mounted(self) -> Run:
        assert self._run is not None, "nothing is mounted or attached"
        return self._run

    def _mount(self, request: dict[str, Any]) -> dict[str, Any]:
        self._run = self._client.mount(
            request["run"],
            request["dataflex"],
            takeover=request["takeover"],
            group_size=request["group"],
            adv_estimator="grpo",
            timeout=60.0,
        )
        return {"incarnation": self._run.handle["incarnation"]}

    def _attach(self, request: dict[str, Any]) -> dict[str, Any]:
        self._run = self._client.attach(request["run"])
        return {"incarnation": self._run.handle["incarnation"]}

    def _put(self, request: dict[str, Any]) -> dict[str, Any]:
        fields = {name: column(values) for name, values in request["fields"].items()}
        receipt = self._mounted.put(request["step"], request["stage"], fields, **request["options"])
        return {"kind": receipt.kind, "attempt": receipt.attempt}

    def _weights(self, request: dict[str, Any]) -> dict[str, Any]:
        result = self._mounted.weights(request["step"], request["timeoutMs"] / 1000)
        pipelines = {
            name: {"weights": one.weights.ravel().tolist(), "proportions": one.proportions}
            for name, one in result.pipelines.items()
        }
        return {"pipelines": pipelines, "combined": result.weights.ravel().tolist(), "keys": result.keys}

    def _release(self, request: dict[str, Any]) -> str:
        return self._mounted.release(request["step"])

    def _mix_state(self, request: dict[str, Any]) -> Any:
        return self._mounted.mix_state(request["pipeline"])

    def _restore_mix_state(self, request: dict[str, Any]) -> None:
        self._mounted.restore_mix_state(request["pipeline"], request["state"])

    def close(self) -> None:
        self._client.close()


def column(values: list[Any]) -> Any:
    """Strings stay a list, numbers become (rows, width) float32, as a trainer has them."""
    return values if isinstance(values[0], str) else np.asarray(values, dtype=np.float32)


def main(url: str) -> None:
    clock.install()
    producer = Producer(url)
    producer.reply({"id": 0, "value": "ready"})
    with ThreadPoolExecutor(16) as pool:
        for line in sys.stdin:
            request = json.loads(line)
            if request["op"] == "close":
                break
            pool.submit(producer.serve, request)
        else:
            # The harness that drove this process is gone.
            os._exit(0)
    producer.close()
    producer.reply({"id": request["id"], "value": None})


main(sys.argv[1])

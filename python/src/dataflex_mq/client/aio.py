"""The client for asyncio: blocking calls run in threads, so that the event loop keeps running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

from .client import Client
from .put import PutReceipt
from .run import Run
from .run_step import RunStep
from .state import SavedState
from .step_result import StepResult


class AsyncRunStep:
    """One step of an `AsyncRun`."""

    def __init__(self, step: RunStep) -> None:
        self._step = step

    async def put(self, stage: str, fields: Mapping[str, Any], **options: Any) -> PutReceipt:
        """As `Run.put`."""
        return await asyncio.to_thread(self._step.put, stage, fields, **options)

    async def weights(self, timeout: float | None = None, *, stages: Sequence[str] | None = None) -> StepResult:
        """As `Run.weights`. A cancelled wait ends in its thread by its own deadline."""
        return await asyncio.to_thread(self._step.weights, timeout, stages=stages)

    async def release(self) -> str:
        """As `Run.release`, once."""
        return await asyncio.to_thread(self._step.release)


class AsyncRun:
    """A `Run` whose calls are awaited; `run` is the run itself."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @asynccontextmanager
    async def step(self, step: int, *, trigger: int = 0) -> AsyncIterator[AsyncRunStep]:
        """`async with run.step(7) as step`: released at the end, also after an exception."""
        own = self.run.step(step, trigger=trigger)
        try:
            yield AsyncRunStep(own)
        except BaseException as error:
            await asyncio.to_thread(own.__exit__, type(error), error, error.__traceback__)
            raise
        await asyncio.to_thread(own.release)

    async def put(self, step: int, stage: str, fields: Mapping[str, Any], **options: Any) -> PutReceipt:
        """As `Run.put`."""
        return await asyncio.to_thread(self.run.put, step, stage, fields, **options)

    async def weights(self, step: int, timeout: float | None = None, **options: Any) -> StepResult:
        """As `Run.weights`."""
        return await asyncio.to_thread(self.run.weights, step, timeout, **options)

    async def release(self, step: int, trigger: int = 0) -> str:
        """As `Run.release`."""
        return await asyncio.to_thread(self.run.release, step, trigger)

    async def mix_state(self, pipeline: str) -> SavedState:
        """As `Run.mix_state`."""
        return await asyncio.to_thread(self.run.mix_state, pipeline)

    async def restore_mix_state(self, pipeline: str, state: SavedState) -> None:
        """As `Run.restore_mix_state`."""
        await asyncio.to_thread(self.run.restore_mix_state, pipeline, state)

    async def close(self) -> None:
        """As `Run.close`."""
        await asyncio.to_thread(self.run.close)


class AsyncClient:
    """`async with await AsyncClient.connect(url) as client`: a `Client` whose calls are awaited."""

    def __init__(self, client: Client) -> None:
        self.client = client

    @classmethod
    async def connect(cls, redis_url: str | None = None, **options: Any) -> AsyncClient:
        """As `Client(…)`."""
        return cls(await asyncio.to_thread(Client, redis_url, **options))

    async def mount(self, run_id: str, dataflex: Any, **options: Any) -> AsyncRun:
        """As `Client.mount`."""
        return AsyncRun(await asyncio.to_thread(self.client.mount, run_id, dataflex, **options))

    async def attach(self, run_id: str) -> AsyncRun:
        """As `Client.attach`."""
        return AsyncRun(await asyncio.to_thread(self.client.attach, run_id))

    async def close(self) -> None:
        """As `Client.close`."""
        await asyncio.to_thread(self.client.close)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

"""Steps that release themselves, and the client for asyncio."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from dataflex_mq import AsyncClient, Client, DataflexError
from helpers.fixture_f import SOFTMAX, SOFTMAX_WEIGHTS, fields
from helpers.processes import PrivateRedis
from helpers.runs import mounted

STAGE = "post_advantage"


def released(client: Client, run_id: str, step: int, trigger: int = 0) -> bool:
    with pytest.raises(DataflexError) as caught:
        client.attach(run_id).put(step, STAGE, fields(), trigger=trigger)
    return caught.value.code == "RELEASED"


def test_a_step_is_released_at_its_end(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    with run.step(1, trigger=2) as step:
        step.put(STAGE, fields())
        result = step.weights()
        assert result.trigger == 2
        assert (step.release(), step.release()) == ("BURIED", "BURIED")
    np.testing.assert_allclose(result.pipelines["main"].weights, SOFTMAX_WEIGHTS, rtol=1e-5)
    assert released(client, run_id, 1, trigger=2)


def test_a_step_is_released_also_after_an_error_which_is_the_one_that_comes(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)

    def train() -> None:
        with run.step(1) as step:
            step.submit(STAGE, fields()).result()
            raise ArithmeticError("the loss is NaN")

    with pytest.raises(ArithmeticError, match="the loss is NaN"):
        train()
    assert released(client, run_id, 1)


def test_an_event_loop_goes_on_while_a_step_is_waited_for(service: PrivateRedis, client: Client, run_id: str) -> None:
    turns = 0

    async def beat() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async def train() -> np.ndarray:
        beating = asyncio.create_task(beat())
        async with await AsyncClient.connect(service.url) as own:
            run = await own.mount(run_id, SOFTMAX, adv_estimator="grpo", group_size=4)
            async with run.step(1) as step:
                await step.put(STAGE, fields())
                result = await step.weights()

            async def fail() -> None:
                async with run.step(2) as step:
                    await step.put(STAGE, fields())
                    raise ArithmeticError

            with pytest.raises(ArithmeticError):
                await fail()
            assert released(client, run_id, 1)
            assert released(client, run_id, 2)
        beating.cancel()
        return result.pipelines["main"].weights

    np.testing.assert_allclose(asyncio.run(train()), SOFTMAX_WEIGHTS, rtol=1e-5)
    assert turns > 100

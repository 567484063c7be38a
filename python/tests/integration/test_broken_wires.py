"""Connections that go silent, and answers that are lost."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

from dataflex_mq import Client
from helpers.fault_proxy import FaultProxy
from helpers.fixture_f import SOFTMAX, SOFTMAX_WEIGHTS, fields
from helpers.processes import PrivateRedis
from helpers.runs import mounted

STAGE = "post_advantage"


@pytest.fixture
def proxy(service: PrivateRedis) -> Iterator[FaultProxy]:
    proxy = FaultProxy(service.url.removeprefix("unix://"))
    yield proxy
    proxy.close()


def test_a_connection_that_went_silent_is_replaced(proxy: FaultProxy, run_id: str) -> None:
    with Client(proxy.url) as client:
        run = mounted(client, run_id, SOFTMAX)
        run.put(1, STAGE, fields())
        run.weights(1, timeout=20.0)
        began = time.monotonic()
        proxy.blackhole()
        assert run.put(2, STAGE, fields(), timeout=30.0).kind == "NEW"
        np.testing.assert_allclose(run.weights(2, timeout=30.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)
        assert time.monotonic() - began < 20


def test_a_put_whose_answer_is_lost_counts_once(proxy: FaultProxy, service: PrivateRedis, run_id: str) -> None:
    with Client(proxy.url) as client:
        run = mounted(client, run_id, SOFTMAX)
        proxy.cut_next_answer()
        # The server had taken it: the same put again changes nothing.
        assert run.put(1, STAGE, fields(), timeout=20.0).kind == "DUPLICATE"
        np.testing.assert_allclose(run.weights(1, timeout=20.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)
        (puts,) = service.client().keys(f"dfx2:*:{run_id}:*:1.0:puts")
        # The put and its header.
        assert service.client().hlen(puts) == 2


def test_an_outcome_whose_answer_is_lost_is_read_again(proxy: FaultProxy, run_id: str) -> None:
    with Client(proxy.url) as client:
        run = mounted(client, run_id, SOFTMAX)
        run.put(1, STAGE, fields())
        proxy.cut_next_answer()
        np.testing.assert_allclose(run.weights(1, timeout=20.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)

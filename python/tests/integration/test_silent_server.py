"""A server that answers nothing (stopped, SIGSTOP): closing takes seconds, however many runs there are."""

from __future__ import annotations

import os
import signal
import time

import pytest

from dataflex_mq import Client
from helpers.fixture_f import SOFTMAX
from helpers.processes import PrivateRedis, start_services
from helpers.runs import mounted

RUNS = 6


@pytest.mark.parametrize("beating", [False, True])
def test_six_runs_are_closed_within_seconds(run_id: str, beating: bool) -> None:
    server = PrivateRedis()
    running = start_services(server.url)
    client = Client(server.url)
    try:
        for number in range(RUNS):
            mounted(client, f"{run_id}-{number}", SOFTMAX)
        os.kill(server.pid, signal.SIGSTOP)
        if beating:
            # Long enough for each run's heartbeat to be waiting for its answer.
            time.sleep(4)
        began = time.monotonic()
        client.close()
        assert time.monotonic() - began < 6
    finally:
        os.kill(server.pid, signal.SIGCONT)
        for one in running:
            one.kill()
        server.close()


def test_a_client_says_goodbye_for_all_of_its_runs(client: Client, service: PrivateRedis, run_id: str) -> None:
    with Client(service.url) as own:
        for number in range(3):
            mounted(own, f"{run_id}-{number}", SOFTMAX)
    # Not busy: another trainer takes each of them at once, without a takeover.
    for number in range(3):
        assert mounted(client, f"{run_id}-{number}", SOFTMAX, timeout=5.0).handle["run"] == f"{run_id}-{number}"

"""Waiting: deadlines with a diagnosis, failures of the service, neutral steps, submitting and releasing."""

from __future__ import annotations

import logging
import time
from typing import Any

import numpy as np
import pytest

from dataflex_mq import Client, ClosedError, DataflexError, PutError, ServiceFailure, WaitTimeout
from dataflex_mq.protocol.codec import unpack
from helpers.fixture_f import MASK, SELECT, SOFTMAX, SOFTMAX_WEIGHTS, fields
from helpers.processes import PrivateRedis, eventually, start_services
from helpers.runs import mounted, posted, weighed

STAGE = "post_advantage"


def test_the_deadline_comes_with_what_was_missing(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    began = time.monotonic()
    with pytest.raises(WaitTimeout, match=r"Redis knows nothing of step 1\.0"):
        run.weights(1, timeout=0.3)
    assert time.monotonic() - began < 3
    given = fields()
    part = {"advantages": given["advantages"][:4], "response_mask": given["response_mask"][:4]}
    run.put(2, STAGE, part, rows=(0, 4), total_rows=8)
    with pytest.raises(WaitTimeout, match='field "advantages" at stage post_advantage has 4 of 8 rows') as caught:
        run.weights(2, timeout=0.3)
    assert caught.value.details["pipelines"] == ["main"]
    assert caught.value.retryable


def test_a_failure_in_the_service_is_raised_with_its_place(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    given = fields()
    given["advantages"][2, 1] = np.nan
    run.put(1, STAGE, given)
    with pytest.raises(ServiceFailure, match="NON_FINITE") as caught:
        run.weights(1, timeout=20.0)
    assert {"row": 2, "column": 1, "pipeline": "main", "stage": STAGE}.items() <= caught.value.details.items()


def test_neutral_steps_train_without_weights_and_are_counted(
    client: Client, run_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    run = mounted(client, run_id, {**SOFTMAX, "on_unavailable": "neutral"})
    given = fields()
    part = {"advantages": given["advantages"][:4], "response_mask": given["response_mask"][:4]}
    run.put(1, STAGE, part, rows=(0, 4), total_rows=8)
    with caplog.at_level(logging.WARNING, "dataflex_mq"):
        result = run.weights(1, timeout=0.2)
    assert result.neutral is not None
    assert result.neutral.code == "TIMEOUT"
    assert result.weights.tolist() == [1.0] * 8
    assert result.rollout_is_weights(MASK).tolist() == MASK.astype(float).tolist()
    existing = np.full((8, 4), 0.5, np.float32)
    assert result.rollout_is_weights(MASK, existing).sum() == MASK.sum() / 2
    assert run.neutral_steps == 1
    assert "step 1.0 trains without weights" in caplog.text
    # A broken input is never covered.
    given["advantages"][0, 0] = np.inf
    run.put(2, STAGE, given)
    with pytest.raises(ServiceFailure):
        run.weights(2, timeout=20.0)


def test_a_submitted_step_is_scored_while_the_trainer_works(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, {"pipelines": {"keep": SELECT, "weigh": SOFTMAX}})
    given = fields()
    early = run.submit(1, "post_reward", given)
    given["rm_scores"][:] = 0
    assert early.sent(10.0).kind == "NEW"
    eventually("the selection has settled", early.done)
    run.put(1, STAGE, given)
    assert early.result().weights.tolist() == [1.0] * 4 + [0.0] * 4
    assert early.result(5.0).waited < 1
    both = run.weights(1, timeout=20.0)
    np.testing.assert_allclose(both.weights, [*SOFTMAX_WEIGHTS[:4], 0, 0, 0, 0], atol=1e-6)
    assert [run.weights(1, stages=[stage]).pipelines.keys() for stage in run.wants] == [{"keep"}, {"weigh"}]


def test_what_is_wrong_with_a_submitted_step_is_told(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    with pytest.raises(DataflexError, match="no response_mask"):
        run.submit(1, STAGE, {"advantages": fields()["advantages"]})
    with pytest.raises(TypeError, match="row_numbers"):
        run.submit(1, STAGE, fields(), row_numbers=[1])
    run.put(1, STAGE, fields())
    other = {**fields(), "advantages": np.ones((8, 4), np.float32)}
    conflict = run.submit(1, STAGE, other)
    # A wait for the step raises it, and so does a wait for this put; the step that was put before is whole.
    for work in (lambda: run.weights(1, timeout=20.0), conflict.result, conflict.result):
        with pytest.raises(PutError, match="PUT_CONFLICT"):
            work()
    assert conflict.done()
    assert len(run.weights(1, timeout=20.0).weights) == 8


def test_a_released_step_is_gone(client: Client, service: PrivateRedis, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    weighed(run, 1, fields())
    assert run.release(1) == "BURIED"
    assert run.release(1) == "BURIED"
    assert run.release(9) == "UNKNOWN"
    with pytest.raises(PutError, match="RELEASED"):
        run.put(1, STAGE, fields())
    with pytest.raises(PutError, match="RELEASED"):
        run.weights(1, timeout=5.0)
    left = service.client().keys(f"dfx2:*:{run_id}:*:1.0:*")
    assert [key.rsplit(b":", 1)[1] for key in left] == [b"status"]


def test_a_closed_run_and_client_say_so(service: PrivateRedis, run_id: str) -> None:
    with Client(service.url) as client, mounted(client, run_id, SOFTMAX) as run:
        posted(run, 1, fields())
    for work in (
        lambda: run.put(1, STAGE, fields()),
        lambda: run.weights(1),
        lambda: run.release(1),
        lambda: client.mount("x", SOFTMAX),
        lambda: client.attach(run_id),
    ):
        with pytest.raises(ClosedError):
            work()
    with Client(service.url) as client:
        # It said goodbye: the run is free at once.
        mounted(client, run_id, SOFTMAX, timeout=5.0)


def test_a_wait_survives_the_death_and_return_of_the_worker(run_id: str) -> None:
    private = PrivateRedis()
    broker, worker = start_services(private.url)
    try:
        with Client(private.url) as client:
            run = mounted(client, run_id, SOFTMAX)
            worker.kill()
            pending = run.submit(1, STAGE, fields())
            with pytest.raises(WaitTimeout, match=r"the result did not come in time|no live worker"):
                run.weights(1, timeout=0.5)
            broker.kill()
            later = run.submit(2, STAGE, fields())
            assert later.sent(5.0).kind == "NEW"
            assert not later.done()
            broker, worker = start_services(private.url)
            np.testing.assert_allclose(later.result(60.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)
            # The deadline settled the first step: it is not scored any more.
            with pytest.raises(WaitTimeout, match="the trainer stopped waiting"):
                pending.result(5.0)
    finally:
        for one in (broker, worker, private):
            one.close()


def test_results_carry_what_the_service_says(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, {"pipelines": {"keep": SELECT, "weigh": SOFTMAX}})
    result = weighed(run, 5, fields())
    keep, weigh = result.pipelines.values()
    expected: dict[str, Any] = {"mechanism": "select", "stage": "post_reward", "rows": 8, "width": 4}
    assert expected.items() <= keep.header.items()
    assert keep.metrics["kept_frac"] == pytest.approx(0.5)
    assert weigh.header["stats"]["mean"] == pytest.approx(1)
    assert weigh.header["producer"]["pid"] > 0
    assert (result.step, result.trigger, result.neutral) == (5, 0, None)
    assert 0 < result.waited < 20


def test_rows_dropped_for_a_value_that_is_not_finite_count_in_no_mean(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, {"pipelines": {"weigh": {**SOFTMAX, "on_nonfinite": "drop"}}, "rescale": "row"})
    given = fields()
    given["advantages"][2, 1] = np.nan
    result = weighed(run, 1, given)
    (pipeline,) = result.pipelines.values()
    assert pipeline.dropped is not None
    assert pipeline.dropped.tolist() == [2]
    assert result.weights[2] == 0
    assert result.weights.sum() == pytest.approx(7)
    assert result.statistics is not None
    assert (result.statistics["level"], result.statistics["stats"]["n"]) == ("sample", 7)


def test_a_release_tells_the_service_what_the_loss_got(client: Client, service: PrivateRedis, run_id: str) -> None:
    run = mounted(client, run_id, {"pipelines": {"keep": SELECT, "weigh": SOFTMAX}, "clip": [0.5, 1.5]})
    result = weighed(run, 1, fields())
    cleared = MASK.copy()
    cleared[0] = False
    result.rollout_is_weights(cleared)
    statistics = result.statistics
    assert statistics is not None
    assert statistics["stats"]["n"] == 7
    assert statistics["product"]["n"] == 8
    run.release(1)
    entries = [entry for _, entry in service.client().xrange("dfx2:{0}:notices") if entry[b"run"] == run_id.encode()]
    (report,) = [unpack(entry[b"header"]) for entry in entries if entry[b"kind"] == b"released"]
    assert report["combined"] == statistics
    assert report["wait_ms"] > 0


@pytest.mark.parametrize("timeout", [-1, "1", 100_000, float("nan"), True])
def test_a_wait_that_is_none_is_refused(client: Client, run_id: str, timeout: Any) -> None:
    run = mounted(client, run_id, SOFTMAX)
    for work in (lambda: run.weights(1, timeout), lambda: run.put(1, STAGE, fields(), timeout=timeout)):
        with pytest.raises(DataflexError, match="number of seconds"):
            work()

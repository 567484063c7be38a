"""
A Ray actor, in a process of its own as verl's workers are, is handed the metadata that our `_compute_advantage` answered, fetches through
verl's bridge what that names, and evaluates verl's policy losses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import losses
import pytest
import ray
import torch
import transfer_queue as tq
from loss_case import DROPPED, KEPT, ROWS, SELECT
from loss_trainer import actor_config, make_trainer, submit
from losses import LOSSES, by_hand
from stored_rows import store, store_log_probs
from verl.trainer.ppo.core_algos import POLICY_LOSS_REGISTRY

from helpers.paths import REPOSITORY

# Half of the rows weigh 0, and of the others every token something else.
BLOCK = {
    "pipelines": {
        "band": SELECT,
        "tokens": {
            "mechanism": "reweight",
            "scorer": {"name": "token_prob"},
            "actuator": {"name": "advantage_reweight", "params": {"alpha": 0.5}},
        },
    }
}


def make_actor(config: Any) -> Any:
    """The class goes to the worker by value: tests are no package there."""
    from verl.utils.transferqueue_utils import tqbridge

    class Worker:
        @tqbridge()
        def update_actor(self, data: Any) -> dict[str, Any]:
            return {mode: losses.policy_loss(config, data, mode) for mode in losses.LOSSES}

    return ray.remote(num_cpus=0)(Worker).remote()


@pytest.fixture(scope="module")
def seen(queue: None, service: Any) -> Iterator[dict[str, Any]]:
    """What the actor made of the metadata that came back (`answered`), and of that before our put (`before`)."""
    ray.cloudpickle.register_pickle_by_value(losses)
    trainer = make_trainer(service, "worker-fetches", BLOCK)
    before: list[Any] = []
    write = trainer._write_weights
    trainer._write_weights = lambda batch, *rest: (before.append(batch), write(batch, *rest))[1]
    rows = store_log_probs(store(ROWS), ROWS)
    with pytest.MonkeyPatch.context() as patch:
        answered = trainer._compute_advantage(submit(trainer, rows, patch), {})
    actor = make_actor(actor_config(trainer))
    yield {
        "answered": ray.get(actor.update_actor.remote(answered)),
        "before": ray.get(actor.update_actor.remote(before[0])),
    }
    ray.kill(actor)
    tq.kv_clear(keys=rows.keys, partition_id="train")
    trainer._dataflex_client.close()
    ray.cloudpickle.unregister_pickle_by_value(losses)


@pytest.mark.parametrize("mode", LOSSES)
def test_the_loss_is_the_weighted_one_and_dropped_rows_have_no_gradient(seen: dict[str, Any], mode: str) -> None:
    loss, gradient, padded = seen["answered"][mode]
    weights, live = padded["rollout_is_weights"], padded["response_mask"] == 1
    assert torch.equal(weights[DROPPED], torch.zeros_like(weights[DROPPED]))
    assert len(weights[KEPT][live[KEPT]].unique()) > 3
    assert torch.equal(gradient[DROPPED], torch.zeros_like(gradient[DROPPED]))
    assert (gradient[KEPT][live[KEPT]] != 0).all()
    torch.testing.assert_close(loss, by_hand(mode, padded, weights), check_dtype=False, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("mode", LOSSES)
def test_with_the_metadata_before_ours_the_worker_sees_no_weights(seen: dict[str, Any], mode: str) -> None:
    """Guards the test above."""
    loss, gradient, padded = seen["before"][mode]
    assert "rollout_is_weights" not in padded
    assert gradient[DROPPED].abs().sum() > 0
    ones = torch.ones_like(padded["advantages"])
    torch.testing.assert_close(loss, by_hand(mode, padded, ones), check_dtype=False, rtol=1e-5, atol=1e-7)


def test_these_are_all_losses_that_verl_and_the_service_know() -> None:
    source = (REPOSITORY / "src/mounting/catalogue/trainer-rules.ts").read_text()
    listed = re.search(r"const MULTIPLYING = \[(.*?)\];\n", source, re.S)
    assert listed is not None
    assert set(re.findall(r'"(\w+)"', listed[1])) == {*LOSSES, "geo_mean"}
    assert set(POLICY_LOSS_REGISTRY) == {*LOSSES, "geo_mean", "bypass_mode"}

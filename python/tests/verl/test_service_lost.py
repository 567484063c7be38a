"""The service goes away in the middle of verl's real loop, and comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transfer_queue as tq
from blocks import BAND, MIX, SOFTMAX, at
from own_service import OwnService
from toy_loop import loop_config, make_loop

from dataflex_mq import DataflexError
from helpers.processes import eventually

# One is sent in the background before verl's passes, one when its advantages are there.
BOTH = {"pipelines": {"band": BAND, "size": SOFTMAX}}


def fit(config: Any, before: dict[int, Callable[[], None]], amid: dict[int, Callable[[], None]] | None = None) -> Any:
    """Runs the loop. before: what happens as a step begins; amid: while verl computes log-probs and the service scores."""
    trainer, rollout = make_loop(config)
    begin, compute = trainer.on_step_begin, trainer._compute_old_log_prob

    def on_step_begin() -> None:
        begin()
        before.get(trainer.global_steps, lambda: None)()

    def compute_old_log_prob(batch: Any, metrics: dict) -> Any:
        (amid or {}).get(trainer.global_steps, lambda: None)()
        return compute(batch, metrics)

    trainer.on_step_begin, trainer._compute_old_log_prob = on_step_begin, compute_old_log_prob
    trainer.fit(rollout)
    return trainer


def test_neutral_trains_on_and_goes_back_to_weights(queue: None, own: OwnService, run_id: str, tmp_path: Path) -> None:
    block = at(own, run_id, BOTH, on_unavailable="neutral", max_wait_ms=5000)
    config = loop_config(tmp_path, "dataflex_mq_sync", block, trainer__total_training_steps=6)
    trainer = fit(config, {2: own.kill, 3: own.start, 5: own.back}, amid={4: own.redis.stop})
    assert [metrics["dataflex/fallback"] for metrics in trainer.logged] == [0, 1, 0, 1, 0, 0]
    for metrics, update in zip(trainer.logged, trainer.actor_rollout_wg.updates, strict=True):
        assert (update["weights"] is None) == (metrics["dataflex/fallback"] == 1)
        assert ("dataflex/weight_mean" in metrics) == (metrics["dataflex/fallback"] == 0)
    assert trainer._dataflex_run.neutral_steps == 2


def test_a_checkpoint_is_written_though_redis_is_away(
    queue: None, own: OwnService, run_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The draw is saved; the mixer's memory, which cannot be read, is not, and the next trainer goes on without it."""
    monkeypatch.setattr("dataflex_mq.client.run.STATE_SECONDS", 0.1)
    block = at(own, run_id, MIX, on_unavailable="neutral", max_wait_ms=3000)
    steps = {"trainer__total_training_steps": 2, "trainer__save_freq": 2}
    first = fit(loop_config(tmp_path, "dataflex_mq_mix_sync", block, **steps), {2: own.redis.stop})
    own.back()
    second, _ = make_loop(loop_config(tmp_path, "dataflex_mq_mix_sync", block, **steps))
    assert second.global_steps == 2
    assert second._draw.state() == first._draw.state()
    second._dataflex_client.close()


@pytest.mark.parametrize(("lost", "code"), [("kill", "TIMEOUT"), ("stop", "REDIS_UNREACHABLE")])
def test_error_stops_with_a_typed_error(
    queue: None, own: OwnService, run_id: str, tmp_path: Path, lost: str, code: str
) -> None:
    block = at(own, run_id, BOTH, on_unavailable="error", max_wait_ms=3000)
    lose = own.kill if lost == "kill" else own.redis.stop
    with pytest.raises(DataflexError) as caught:
        fit(loop_config(tmp_path, "dataflex_mq_sync", block), {2: lose})
    assert caught.value.code == code
    # Neither the background's put nor the heartbeat goes on, and keeps the process from ending.
    eventually("no thread of the client's is left", lambda: not threads(), seconds=30)
    tq.kv_clear(keys=list(tq.kv_list("train")["train"]), partition_id="train")


def threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("dataflex-mq")]

"""Steps of verl's own loop, with padding rows, rejection sampling, existing importance weights, a critic's warm-up and several triggers."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import transfer_queue as tq
from blocks import MIX, MIX_AND_WEIGH, SOFTMAX, at
from toy_loop import loop_config, make_loop
from verl.trainer.ppo.v1.replay_buffer import ReplayBufferAsync

from dataflex_mq.verl.allocate import allocate
from helpers.processes import eventually

CORRECTION = {"rollout_is": "token", "rollout_rs": "token_k1", "rollout_rs_threshold": "0.5_1.4"}
ONLY_FIVE = {"trainer__total_training_steps": 5, "trainer__save_freq": -1}


@pytest.mark.parametrize("triggers", [1, 4])
def test_ten_steps(queue: None, service: Any, run_id: str, tmp_path: Path, triggers: int) -> None:
    correction = {f"algorithm__rollout_correction__{name}": value for name, value in CORRECTION.items()}
    block = at(service, run_id, SOFTMAX)
    config = loop_config(tmp_path, "dataflex_mq_sync", block, triggers, trainer__critic_warmup=3, **correction)
    trainer, rollout = make_loop(config)
    trainer.fit(rollout)
    updates = trainer.actor_rollout_wg.updates
    # No update before the warm-up is over: steps 1 and 2.
    assert len(updates) == 8 * triggers
    masked = check_weights(updates)
    # Rows that verl padded with, and tokens that its rejection took away.
    assert masked > 0
    assert [len(drawn) for drawn in rollout.drawn] == [4] * 10
    check_nothing_left(service, run_id)


def check_nothing_left(service: Any, run_id: str) -> None:
    """Every step was released, by its trigger too: Redis keeps its tombstone. verl's rows are verl's to clear, and are."""
    redis, step = service.client(), re.compile(rf"{run_id}:\d+:\d+\.\d+:")

    def left() -> list[bytes]:
        keys = [key for key in redis.scan_iter("dfx2:*") if step.search(key.decode())]
        assert keys
        return [key for key in keys if not (key.endswith(b":status") and redis.hexists(key, "buried"))]

    eventually("nothing of a step is left", lambda: not left())
    assert not (tq.kv_list("train") or {}).get("train")


def check_weights(updates: list[dict[str, Any]]) -> int:
    """Every update got weights: 0 where the mask is, above elsewhere, not all alike. Answers how many tokens were masked."""
    masked = 0
    for update in updates:
        assert update["weights"] is not None
        dead = update["mask"] == 0
        assert not update["weights"][dead].any()
        assert update["weights"][~dead].all()
        assert math.isfinite(update["loss"])
        masked += int(dead.sum())
    assert any(len(update["weights"][update["mask"] == 1].unique()) > 1 for update in updates)
    return masked


@pytest.mark.skipif(not hasattr(tq, "save_checkpoint"), reason="refused on this TransferQueue")
@pytest.mark.parametrize("mixes", [False, True])
@pytest.mark.parametrize(("mode", "triggers"), [("colocate_async", 1), ("separate_async", 1), ("separate_async", 4)])
def test_five_asynchronous_steps(
    queue: None, service: Any, run_id: str, tmp_path: Path, mode: str, triggers: int, mixes: bool
) -> None:
    """Prompts are fetched one by one, ahead of the steps that train on them."""
    block = at(service, run_id, MIX_AND_WEIGH if mixes else SOFTMAX)
    name = f"dataflex_mq_mix_{mode}" if mixes else f"dataflex_mq_{mode}"
    trainer, rollout = make_loop(loop_config(tmp_path, name, block, triggers, **ONLY_FIVE))
    assert trainer.trainer_mode == mode
    assert trainer.parameter_sync_step == triggers
    assert type(trainer.replay_buffer) is ReplayBufferAsync
    assert trainer.config.data.gen_batch_size == 1
    trainer.fit(rollout)
    updates = trainer.actor_rollout_wg.updates
    assert len(updates) == 5 * triggers
    check_weights(updates)
    # A batch ahead, and one every step.
    drawn = [name for batch in rollout.domains for name in batch]
    assert len(drawn) == 6 * 4
    if mixes:
        assert {"dataflex/prop_easy", "dataflex/prop_hard"} <= set(trainer.logged[-1])
        assert len({metrics["dataflex/prop_hard"] for metrics in trainer.logged}) > 1
        # Each pipeline's own stand beside those of all together.
        for metrics in trainer.logged:
            assert metrics["dataflex/size/weight_mean"] == pytest.approx(metrics["dataflex/weight_mean"])
            assert "dataflex/mix/mean/easy" in metrics
    # The batch that lies ready for a sixth step.
    tq.kv_clear(keys=list(tq.kv_list("train")["train"]), partition_id="train")
    check_nothing_left(service, run_id)


def test_prompts_are_drawn_in_the_published_proportions(queue: None, service: Any, run_id: str, tmp_path: Path) -> None:
    """50 steps of two domains: what was drawn is what the shares of the step before say, by largest remainder."""
    steps = {"trainer__total_training_steps": 50, "trainer__save_freq": -1}
    trainer, rollout = make_loop(loop_config(tmp_path, "dataflex_mq_mix_sync", at(service, run_id, MIX), **steps))
    shares = [[0.5, 0.5]]
    collected = type(trainer)._collected

    def keep(batch: Any, result: Any, metrics: dict) -> None:
        collected(trainer, batch, result, metrics)
        assert metrics["dataflex/prop_easy"] == result.pipelines["main"].proportions["easy"]
        shares.append([result.pipelines["main"].proportions[name] for name in MIX["domains"]])

    trainer._collected = keep
    trainer.fit(rollout)
    carry = [0.0, 0.0]
    for drawn, published in zip(rollout.domains, shares, strict=False):
        counts, carry = allocate(published, 4, carry)
        assert [drawn.count(name) for name in MIX["domains"]] == counts
    assert len(rollout.domains) == 50
    assert len({tuple(one) for one in shares}) > 5

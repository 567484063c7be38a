"""Steps of verl's own loop, with padding rows, rejection sampling, existing importance weights, a critic's warm-up and several triggers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import transfer_queue as tq
from toy_loop import Killed, loop_paths, make_loop
from verl_config import verl_config

from dataflex_mq.verl.allocate import allocate

SOFTMAX = {"mechanism": "reweight", "scorer": {"name": "advantage_magnitude"}, "actuator": {"name": "softmax"}}
MIX = {
    "mechanism": "mix",
    "domains": ["easy", "hard"],
    "actuator": {"name": "reward_gap"},
}
CORRECTION = {"rollout_is": "token", "rollout_rs": "token_k1", "rollout_rs_threshold": "0.5_1.4"}


def loop(
    service: Any,
    run_id: str,
    folder: Path,
    dataflex: dict[str, Any],
    mode: str,
    kill_at: int | None = None,
    **paths: Any,
) -> Any:
    block = {**dataflex, "redis_url": service.url, "run_id": run_id}
    return make_loop(verl_config(block, mode, **loop_paths(folder, **paths)), kill_at)


def clear_queue() -> None:
    tq.kv_clear(keys=list(tq.kv_list("train")["train"]), partition_id="train")


@pytest.mark.parametrize("triggers", [1, 4])
def test_ten_steps(queue: None, service: Any, run_id: str, tmp_path: Path, triggers: int) -> None:
    correction = {f"algorithm__rollout_correction__{name}": value for name, value in CORRECTION.items()}
    trainer, rollout = loop(
        service,
        run_id,
        tmp_path,
        SOFTMAX,
        "dataflex_mq_sync",
        trainer__critic_warmup=3,
        trainer__v1__sync__parameter_sync_step=triggers,
        actor_rollout_ref__actor__ppo_mini_batch_size=4 // triggers,
        **correction,
    )
    trainer.fit(rollout)
    updates = trainer.actor_rollout_wg.updates
    # No update before the warm-up is over: steps 1 and 2.
    assert len(updates) == 8 * triggers
    assert all(update["weights"] is not None for update in updates)
    masked = 0
    for update in updates:
        dead = update["mask"] == 0
        assert not update["weights"][dead].any()
        assert update["weights"][~dead].all()
        assert math.isfinite(update["loss"])
        masked += int(dead.sum())
    # Rows that verl padded with, and tokens that its rejection took away.
    assert masked > 0
    assert [len(drawn) for drawn in rollout.drawn] == [4] * 10


@pytest.mark.skipif(not hasattr(tq, "save_checkpoint"), reason="refused on this TransferQueue")
@pytest.mark.parametrize(
    ("mode", "dataflex"), [("dataflex_mq_colocate_async", SOFTMAX), ("dataflex_mq_mix_colocate_async", MIX)]
)
def test_five_asynchronous_steps(
    queue: None, service: Any, run_id: str, tmp_path: Path, mode: str, dataflex: dict[str, Any]
) -> None:
    """Prompts are fetched one by one, ahead of the steps that train on them."""
    steps = {"trainer__total_training_steps": 5, "trainer__save_freq": -1}
    trainer, rollout = loop(service, run_id, tmp_path, dataflex, mode, **steps)
    assert trainer.trainer_mode == "colocate_async"
    trainer.fit(rollout)
    updates = trainer.actor_rollout_wg.updates
    assert len(updates) == 5
    if dataflex is SOFTMAX:
        assert all(update["weights"] is not None for update in updates)
    else:
        drawn = [name for batch in rollout.domains for name in batch]
        assert len(set(drawn)) == 2
    clear_queue()


def test_prompts_are_drawn_in_the_published_proportions(queue: None, service: Any, run_id: str, tmp_path: Path) -> None:
    """50 steps of two domains: what was drawn is what the shares of the step before say, by largest remainder."""
    trainer, rollout = loop(
        service,
        run_id,
        tmp_path,
        MIX,
        "dataflex_mq_mix_sync",
        trainer__total_training_steps=50,
        trainer__save_freq=-1,
    )
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


def test_ten_steps_are_five_killed_and_five(queue: None, service: Any, run_id: str, tmp_path: Path) -> None:
    straight, rollout = loop(service, f"{run_id}-a", tmp_path / "a", MIX, "dataflex_mq_mix_sync")
    straight.fit(rollout)
    first, begun = loop(service, f"{run_id}-b", tmp_path / "b", MIX, "dataflex_mq_mix_sync", kill_at=5)
    with pytest.raises(Killed):
        first.fit(begun)
    # A killed process takes its queue along.
    clear_queue()
    # As on an empty Redis: another run name holds nothing.
    second, resumed = loop(service, f"{run_id}-c", tmp_path / "b", MIX, "dataflex_mq_mix_sync")
    second.fit(resumed)
    assert begun.drawn + resumed.drawn == rollout.drawn
    assert len(rollout.drawn) == 10
    assert straight._draw.state() == second._draw.state()

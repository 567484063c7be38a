"""Ten straight steps are five, a killed trainer, and five: prompt by prompt, weight by weight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import transfer_queue as tq
from blocks import BAND, MIX, SOFTMAX, at
from own_service import OwnService
from toy_loop import loop_config, make_loop
from toy_process import said
from trainer_process import TrainerProcess
from verl.trainer.ppo.v1 import trainer_base

from dataflex_mq.verl.checkpoint import read_state
from helpers.processes import PrivateRedis

MODE = "dataflex_mq_mix_sync"
# The proportions come from the mixer's memory, the weights from the step alone; one is scored early, one late.
BLOCK = {"pipelines": {"mix": MIX, "band": BAND, "size": SOFTMAX}}


def listen(trainer: Any, rollout: Any) -> list[dict[str, Any]]:
    """What every step of the loop will have said."""
    steps: list[dict[str, Any]] = []
    computed = trainer._compute_metrics

    def keep(*args: Any, **named: Any) -> None:
        computed(*args, **named)
        steps.append(said(trainer, rollout))

    trainer._compute_metrics = keep
    return steps


@pytest.fixture(scope="module")
def whole(queue: None, service: PrivateRedis, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Ten straight steps."""
    config = loop_config(tmp_path_factory.mktemp("whole"), MODE, at(service, "whole", BLOCK))
    trainer, rollout = make_loop(config)
    steps = listen(trainer, rollout)
    trainer.fit(rollout)
    assert len({str(step["shares"]) for step in steps}) > 2
    return steps


def test_ten_steps_are_five_killed_and_five(
    whole: list[dict[str, Any]], own: OwnService, run_id: str, tmp_path: Path
) -> None:
    """The trainer is killed in step 6, whose fields and weights are in Redis already; then Redis comes back empty."""
    block = at(own, run_id, BLOCK)
    with TrainerProcess(tmp_path, MODE, block, stop_in=6) as first:
        resumed_from, *begun, _ = first.says_until("in_step")
        first.kill()
    assert resumed_from["resumed_from"] == 0
    # What the documents promise of the log.
    assert f'dataflex: run "{run_id}", incarnation {resumed_from["incarnation"]}: mix (post_reward), ' in first.log
    own.empty()
    assert not own.redis.client().keys(f"*{run_id}*")
    with TrainerProcess(tmp_path, MODE, block) as second:
        resumed_from, *ended = second.says()
        assert second.ended() == 0
    assert resumed_from["resumed_from"] == 5
    assert [step["step"] for step in begun + ended] == list(range(1, 11))
    assert begun + ended == whole


def test_steps_between_checkpoint_and_end_are_done_again(
    whole: list[dict[str, Any]], service: PrivateRedis, run_id: str, tmp_path: Path
) -> None:
    """Redis has kept all: the steps that the earlier trainer did after its checkpoint no longer count, and their numbers are free again."""
    block = at(service, run_id, BLOCK)
    first, rollout = make_loop(loop_config(tmp_path, MODE, block))
    begun = listen(first, rollout)

    def fail(*_: Any, **__: Any) -> None:
        if first.global_steps == 8:
            raise RuntimeError("out of memory")

    first.on_step_begin = fail
    with pytest.raises(RuntimeError, match="out of memory"):
        first.fit(rollout)
    second, rollout = make_loop(loop_config(tmp_path, MODE, block))
    ended = listen(second, rollout)
    assert second._dataflex_run.handle["incarnation"] > first._dataflex_run.handle["incarnation"]
    second.fit(rollout)
    assert begun == whole[:7]
    assert ended == whole[5:]


def test_the_draw_is_written_before_verl_marks_the_checkpoint(
    queue: None, service: PrivateRedis, run_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trainer that dies between the two leaves a checkpoint that verl does not take, never one without the draw."""
    save, marker = trainer_base.PPOTrainer._save_checkpoint, tmp_path / "latest_checkpointed_iteration.txt"
    before: list[tuple[Any, str]] = []

    def watch(self: Any) -> None:
        state = read_state(tmp_path / f"global_step_{self.global_steps}")
        assert state is not None
        assert state["draw"] == self._draw.state()
        before.append((state["mix"] is not None, marker.read_text() if marker.exists() else ""))
        save(self)

    monkeypatch.setattr(trainer_base.PPOTrainer, "_save_checkpoint", watch)
    steps = {"trainer__total_training_steps": 2, "trainer__save_freq": 1}
    trainer, rollout = make_loop(loop_config(tmp_path, MODE, at(service, run_id, BLOCK), **steps))
    trainer.fit(rollout)
    assert before == [(True, ""), (True, "1")]
    assert marker.read_text() == "2"


@pytest.mark.skipif(not hasattr(tq, "save_checkpoint"), reason="refused on this TransferQueue")
@pytest.mark.parametrize("mode", ["colocate_async", "separate_async"])
def test_an_asynchronous_draw_goes_on_behind_the_prompts_in_flight(
    queue: None, service: PrivateRedis, run_id: str, tmp_path: Path, mode: str
) -> None:
    """Prompts that were drawn and not yet trained on are in verl's checkpoint of the queue; the next draw is the one behind them."""
    block = at(service, run_id, MIX)
    name = f"dataflex_mq_mix_{mode}"
    first, rollout = make_loop(loop_config(tmp_path, name, block, trainer__total_training_steps=5))
    first.fit(rollout)
    # As a killed process's.
    clear_queue()
    second, resumed = make_loop(loop_config(tmp_path, name, block, trainer__total_training_steps=8))
    assert second.global_steps == 5
    assert second._draw.state() == first._draw.state()
    assert second._restored_tq_prompt_count == 4
    second.fit(resumed)
    # No warm-up again: the prompts in flight are it.
    assert [index for batch in resumed.drawn for index in batch][:4] == first._draw.take(4)
    assert sum(len(batch) for batch in resumed.drawn) == 3 * 4
    assert [metrics["training/global_step"] for metrics in second.logged] == [6, 7, 8]
    clear_queue()


def clear_queue() -> None:
    tq.kv_clear(keys=list(tq.kv_list("train")["train"]), partition_id="train")

"""Beside the weights, nothing of verl's own behaviour changes: its trainer and ours, with weights that are all 1, train the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transfer_queue as tq
from blocks import at
from toy_loop import loop_config, make_loop

# Keeps every row.
KEEP_ALL = {
    "mechanism": "select",
    "scorer": {"name": "response_length"},
    "actuator": {"name": "threshold_band", "params": {"low": 0, "high": 99}},
}
ASYNC = pytest.mark.skipif(not hasattr(tq, "save_checkpoint"), reason="refused on this TransferQueue")


@pytest.mark.parametrize(
    "mode", ["sync", pytest.param("colocate_async", marks=ASYNC), pytest.param("separate_async", marks=ASYNC)]
)
def test_weights_of_one_change_nothing(queue: None, service: Any, run_id: str, tmp_path: Path, mode: str) -> None:
    settings = {
        "trainer__total_training_steps": 5,
        "algorithm__rollout_correction__rollout_is": "token",
        "algorithm__rollout_correction__rollout_rs": "token_k1",
        "algorithm__rollout_correction__rollout_rs_threshold": "0.5_1.4",
    }
    if mode != "sync":
        # Which of the prompts that lie ready verl takes is chance; so none lies ready.
        settings[f"trainer__v1__{mode}__num_warmup_batches"] = 0
    block = at(service, run_id, KEEP_ALL)
    ours, our_rollout = make_loop(loop_config(tmp_path / "ours", f"dataflex_mq_{mode}", block, **settings))
    theirs, their_rollout = make_loop(loop_config(tmp_path / "theirs", mode, **settings))
    assert type(ours.replay_buffer) is type(theirs.replay_buffer)
    assert ours.config.trainer.v1.trainer_mode == theirs.config.trainer.v1.trainer_mode == mode
    assert ours.config.data.gen_batch_size == theirs.config.data.gen_batch_size
    ours.fit(our_rollout)
    theirs.fit(their_rollout)
    assert our_rollout.drawn == their_rollout.drawn
    for own, other in zip(ours.actor_rollout_wg.updates, theirs.actor_rollout_wg.updates, strict=True):
        assert own["loss"] == other["loss"]
        # verl's own importance weights, times 1.
        assert torch.equal(own["weights"], other["weights"] * other["mask"])
    assert torch.equal(ours.actor_rollout_wg.logits, theirs.actor_rollout_wg.logits)
    for own, other in zip(ours.logged, theirs.logged, strict=True):
        added = {name for name in own if name not in other}
        assert added
        assert all("dataflex" in name for name in added)
        timed = {name for name in other if name.startswith(("timing", "perf/"))}
        same = {name: value for name, value in other.items() if name not in timed}
        assert {name: own[name] for name in same} == pytest.approx(same, rel=0, abs=0, nan_ok=True)

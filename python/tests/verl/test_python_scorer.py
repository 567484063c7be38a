"""A Python scorer in DataFlex-RL's form, mounted by verl's trainer: its weights reach verl's loss and equal the built-in one's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import transfer_queue as tq
from loss_case import ROWS, SELECT, SOFTMAX
from loss_trainer import actor_config, make_trainer, submit
from losses import by_hand, policy_loss
from stored_rows import as_actor_fetches, store, store_log_probs

from helpers.processes import PrivateRedis, Service

PLUGIN = """
from dataflex_verl.core.registry import register_scorer
from dataflex_verl.core.scorer import Scorer


@register_scorer("size_of_advantage")
class SizeOfAdvantage(Scorer):
    requires = ["advantages", "response_mask"]
    timing = "post_advantage"
    granularity = "prompt"

    def score(self, batch, step_id, **ctx):
        mask = batch.batch["response_mask"]
        return (batch.batch["advantages"].abs() * mask).sum(-1) / mask.sum(-1)
"""
OWN = {**SOFTMAX, "scorer": {"name": "size_of_advantage"}}


@pytest.fixture(scope="module")
def with_plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateRedis]:
    plugin: Path = tmp_path_factory.mktemp("plugin") / "mine.py"
    plugin.write_text(PLUGIN)
    server = PrivateRedis()
    worker = Service("worker", server.url, "--plugin", str(plugin), "--python", sys.executable)
    running = [Service("broker", server.url).wait_until_ready(), worker.wait_until_ready()]
    yield server
    for one in running:
        one.close()
    server.close()


@pytest.mark.parametrize("beside", [{}, {"keep": SELECT}], ids=["alone", "beside a built-in selector"])
def test_its_weights_are_those_of_the_loss(
    with_plugin: PrivateRedis, queue: None, run_id: str, monkeypatch: pytest.MonkeyPatch, beside: dict[str, Any]
) -> None:
    found = []
    for name, block in (("own", OWN), ("built-in", SOFTMAX)):
        # Anew for each: verl's rows keep the weights that the first has written, and these multiply.
        stored = store(ROWS)
        rows = store_log_probs(stored, ROWS)
        trainer = make_trainer(with_plugin, f"{run_id}-{name}", {"pipelines": {"weigh": block, **beside}})
        try:
            batch = trainer._compute_advantage(submit(trainer, rows, monkeypatch), {})
            loss, _, padded = policy_loss(actor_config(trainer), as_actor_fetches(batch), "vanilla")
        finally:
            trainer._dataflex_client.close()
            tq.kv_clear(keys=stored.keys, partition_id="train")
        weights = padded["rollout_is_weights"]
        assert weights.std() > 0
        torch.testing.assert_close(loss, by_hand("vanilla", padded, weights), check_dtype=False)
        found.append(weights)
    torch.testing.assert_close(found[0], found[1], rtol=1e-5, atol=1e-6)

"""Validation is verl's alone: nothing of it goes to the service, nothing comes back into its batch or metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import transfer_queue as tq
from blocks import MIX_AND_WEIGH, at
from toy_loop import loop_config, make_loop

from dataflex_mq.redis.keys import run_keys
from dataflex_mq.redis.scripts import script
from helpers.fault_proxy import FaultProxy


@pytest.fixture
def proxy(service: Any) -> Iterator[FaultProxy]:
    proxy = FaultProxy(service.url.removeprefix("unix://"))
    yield proxy
    proxy.close()


def _of_heartbeat(sent: bytes) -> bool:
    """The run's heartbeat goes on, as it does at any time: its script, and a look whether released steps are still released."""
    looks = sent.count(b"\r\nHEXISTS\r\n")
    return script("heartbeat")[1].encode() in sent or (
        looks > 0 and looks == sent.count(b"\r\nreleased\r\n") == sent.count(b"*3\r\n")
    )


def test_validation_touches_nothing(queue: None, proxy: FaultProxy, run_id: str, tmp_path: Path) -> None:
    settings = {
        "trainer__total_training_steps": 4,
        "trainer__val_before_train": True,
        "trainer__test_freq": 2,
        "data__val_batch_size": 8,
    }
    trainer, rollout = make_loop(
        loop_config(tmp_path, "dataflex_mq_mix_sync", at(proxy, run_id, MIX_AND_WEIGH), **settings)
    )
    validate, clear = trainer._validate, tq.kv_clear
    validated: list[dict[str, Any]] = []

    def watch() -> dict[str, float]:
        heard = len(proxy.heard)
        fields: set[str] = set()

        def look(keys: Any, partition_id: str) -> None:
            # A prompt's own key has tags and no fields.
            rows = [key for key in keys if "_" in key]
            if partition_id == "val" and rows:
                fields.update(tq.kv_batch_get(keys=rows, partition_id=partition_id).keys())
            clear(keys=keys, partition_id=partition_id)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tq, "kv_clear", look)
            metrics = validate()
        validated.append({"metrics": metrics, "fields": fields, "sent": proxy.heard[heard:]})
        return metrics

    trainer._validate = watch
    trainer.fit(rollout)
    # Before training, after steps 2 and 4.
    assert len(validated) == 3
    for one in validated:
        assert [sent for sent in one["sent"] if not _of_heartbeat(sent)] == []
        assert not [name for name in one["metrics"] if "dataflex" in name]
        assert "rm_scores" in one["fields"]
        assert not one["fields"] & {"rollout_is_weights", "advantages"}
    # What was sent of steps at all, is of those that trained.
    handle = trainer._dataflex_run.handle
    sent = b"".join(proxy.heard)
    posted = [
        step for step in range(6) if run_keys(run_id).step(handle["incarnation"], f"{step}.0").status.encode() in sent
    ]
    assert posted == [1, 2, 3, 4]

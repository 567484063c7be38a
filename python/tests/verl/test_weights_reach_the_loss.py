"""
Rows as verl stores them, our `_compute_advantage` on them, then the fields as an actor worker fetches them and verl's own policy loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import transfer_queue as tq
from loss_case import DROPPED, KEPT, ROWS, SELECT, SOFTMAX
from loss_trainer import actor_config, make_trainer, submit
from losses import by_hand, policy_loss
from stored_rows import Row, as_actor_fetches, store, store_log_probs
from tensordict import TensorDict

from dataflex_mq import DataflexError


@pytest.fixture
def rows(queue: None) -> Iterator[Any]:
    batch = store(ROWS)
    yield store_log_probs(batch, ROWS)
    tq.kv_clear(keys=batch.keys, partition_id="train")


@pytest.fixture
def trainer(service: Any, run_id: str) -> Iterator[Any]:
    trainer = make_trainer(service, run_id, SELECT)
    yield trainer
    trainer._dataflex_client.close()


def test_a_dropped_row_has_no_gradient_and_the_loss_is_the_weighted_one(
    trainer: Any, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics: dict[str, float] = {}
    batch = trainer._compute_advantage(submit(trainer, rows, monkeypatch), metrics)
    data = as_actor_fetches(batch)
    loss, gradient, padded = policy_loss(actor_config(trainer), data, "vanilla")
    expected = torch.tensor([[0.0]] * 4 + [[1.0]] * 4)
    assert torch.equal(padded["rollout_is_weights"], expected * padded["response_mask"])
    assert torch.equal(gradient[DROPPED], torch.zeros_like(gradient[DROPPED]))
    assert gradient[KEPT].abs().sum() > 0
    torch.testing.assert_close(loss, by_hand("vanilla", padded, expected), check_dtype=False)
    assert metrics["dataflex/kept_frac"] == 0.5
    assert metrics["dataflex/fallback"] == 0
    assert metrics["timing_s/dataflex_hidden"] > 0


def test_the_metadata_before_ours_hides_the_weights(trainer: Any, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards the test above: with the metadata of before our put, the weights lie in the queue and no worker reads them."""
    before: list[Any] = []
    write = type(trainer)._write_weights

    def keep_old(self: Any, batch: Any, *rest: Any) -> Any:
        before.append(batch)
        write(self, batch, *rest)
        return batch

    monkeypatch.setattr(type(trainer), "_write_weights", keep_old)
    batch = trainer._compute_advantage(submit(trainer, rows, monkeypatch), {})
    assert batch is before[0]
    stored = tq.kv_batch_get(keys=batch.keys, partition_id="train", select_fields=["rollout_is_weights"])
    assert "rollout_is_weights" in stored
    data = as_actor_fetches(batch)
    assert "rollout_is_weights" not in data
    loss, gradient, padded = policy_loss(actor_config(trainer), data, "vanilla")
    assert gradient[DROPPED].abs().sum() > 0
    torch.testing.assert_close(loss, by_hand("vanilla", padded, torch.ones(8, 1)), check_dtype=False)


def test_extra_info_is_that_of_the_last_metadata(trainer: Any, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older one says `compute_loss: False` (the log-prob pass), with which an actor would skip its update."""
    rows.extra_info.update(compute_loss=False)
    computed: list[Any] = []
    compute = type(trainer).__mro__[2]._compute_advantage

    def last(self: Any, batch: Any, metrics: dict[str, float]) -> Any:
        batch = compute(self, batch, metrics)
        batch.extra_info["said_last"] = True
        computed.append(batch)
        return batch

    monkeypatch.setattr(type(trainer).__mro__[2], "_compute_advantage", last)
    batch = trainer._compute_advantage(submit(trainer, rows, monkeypatch), {})
    assert batch is not computed[0]
    assert batch.extra_info == computed[0].extra_info
    assert batch.extra_info["said_last"]
    assert "compute_loss" not in batch.extra_info


def test_existing_weights_are_multiplied(trainer: Any, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values = [torch.full((len(row.mask),), 0.5) for row in ROWS]
    existing = torch.nested.as_nested_tensor(values, layout=torch.jagged)
    tq.kv_batch_put(
        keys=rows.keys, partition_id="train", fields=TensorDict({"rollout_is_weights": existing}, batch_size=len(ROWS))
    )
    data = as_actor_fetches(trainer._compute_advantage(submit(trainer, rows, monkeypatch), {}))
    padded = data.select("rollout_is_weights", "response_mask").to_padded_tensor()
    expected = torch.tensor([[0.0]] * 4 + [[0.5]] * 4)
    assert torch.equal(padded["rollout_is_weights"], expected * padded["response_mask"])


STALE = {
    "mechanism": "select",
    "scorer": {"name": "staleness"},
    "actuator": {"name": "staleness_cutoff", "params": {"max_staleness": 2}},
}


def test_stale_rows_are_dropped_by_verls_own_tag(
    service: Any, run_id: str, queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = make_trainer(service, run_id, STALE)
    batch = store(ROWS)
    # Row i was finished i updates before the version that trains.
    for lag, tag in enumerate(batch.tags):
        tag["max_global_steps"] = trainer.global_steps - 1 - lag
    tq.kv_batch_put(keys=batch.keys, tags=batch.tags, partition_id="train")
    meta = store_log_probs(batch, ROWS)
    data = as_actor_fetches(trainer._compute_advantage(submit(trainer, meta, monkeypatch), {}))
    padded = data.select("rollout_is_weights", "response_mask").to_padded_tensor()
    expected = torch.tensor([[1.0]] * 3 + [[0.0]] * 5)
    assert torch.equal(padded["rollout_is_weights"], expected * padded["response_mask"])
    trainer._dataflex_client.close()


def test_a_row_without_its_version_is_refused_by_name(
    service: Any, run_id: str, queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = make_trainer(service, run_id, STALE)
    batch = store(ROWS)
    batch.tags[3]["max_global_steps"] = None
    tq.kv_batch_put(keys=batch.keys, tags=batch.tags, partition_id="train")
    meta = store_log_probs(batch, ROWS)
    with pytest.raises(DataflexError, match=f'row "{batch.keys[3]}" has no tag max_global_steps') as caught:
        submit(trainer, meta, monkeypatch)
    assert caught.value.code == "INVALID_INPUT"
    trainer._dataflex_client.close()


@pytest.mark.parametrize(
    ("block", "pad_mask"),
    [
        # As verl pads: no live token. A pad is no group of its own, of which rows were missing.
        (SOFTMAX, [0]),
        (SELECT, [0]),
        # By its tag, whatever its mask.
        (SOFTMAX, [1]),
        (SELECT, [1]),
    ],
)
def test_padding_rows_count_nowhere(
    service: Any,
    run_id: str,
    queue: None,
    monkeypatch: pytest.MonkeyPatch,
    block: dict[str, Any],
    pad_mask: list[int],
) -> None:
    pads = [Row("padff_0_0", pad_mask, 0.0), Row("padff_1_0", pad_mask, 0.0)]
    with_pads = [*ROWS[4:], *pads]
    batch = store(with_pads)
    for tag in batch.tags[4:]:
        tag["is_padding"] = True
    # As verl does: the queue keeps the tags, and answers them when asked.
    tq.kv_batch_put(keys=batch.keys, tags=batch.tags, partition_id="train")
    trainer = make_trainer(service, run_id, block)
    metrics: dict[str, float] = {}
    meta = store_log_probs(batch, with_pads)
    data = as_actor_fetches(trainer._compute_advantage(submit(trainer, meta, monkeypatch), metrics))
    weights = data["rollout_is_weights"].to_padded_tensor(0.0)
    assert torch.equal(weights[4:], torch.zeros_like(weights[4:]))
    # Half of group "b" is solved: its rows have advantages of one size, and are all within the band.
    live = torch.tensor([[bool(one) for one in row.mask] + [False] * (4 - len(row.mask)) for row in ROWS[4:]])
    torch.testing.assert_close(weights[:4][live], torch.ones(int(live.sum())))
    assert metrics["dataflex/main/weight_mean"] == pytest.approx(1.0, abs=1e-6)
    tq.kv_clear(keys=batch.keys, partition_id="train")
    trainer._dataflex_client.close()


def test_a_mask_that_rejection_changed_is_sent_again(
    service: Any, run_id: str, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pipelines: one scored before rejection, one after; the rejected tokens weigh nothing in either."""
    pipelines = {"before": SELECT, "after": SOFTMAX}
    trainer = make_trainer(service, run_id, {"pipelines": pipelines})
    batch = submit(trainer, rows, monkeypatch)
    rejected = [torch.tensor([0, *list(row.mask)[1:]]) for row in ROWS]
    mask = torch.nested.as_nested_tensor(rejected, layout=torch.jagged)
    batch = tq.kv_batch_put(
        keys=batch.keys, partition_id="train", fields=TensorDict({"response_mask": mask}, batch_size=len(ROWS))
    )
    data = as_actor_fetches(trainer._compute_advantage(batch, {}))
    padded = data.select("rollout_is_weights", "response_mask", "advantages").to_padded_tensor()
    live = padded["response_mask"] == 1
    # The last row lost its only token. Of the softmax, which is scored after, it is no part any more: under the older mask it would be, and
    # every other weight another.
    assert not live[7].any()
    size = padded["advantages"].abs().amax(dim=1).exp()
    softmax = size / size[live.any(dim=1)].mean()
    expected = torch.where(live, softmax[:, None], 0.0)
    expected[DROPPED] = 0
    torch.testing.assert_close(padded["rollout_is_weights"], expected)
    trainer._dataflex_client.close()


@pytest.mark.parametrize("block", [SELECT, {"pipelines": {"band": SELECT, "size": SOFTMAX}}])
def test_weights_follow_their_rows_through_a_reorder(
    service: Any, run_id: str, rows: Any, monkeypatch: pytest.MonkeyPatch, block: dict[str, Any]
) -> None:
    """verl balances lengths: each stage has its own order of the rows, also where weights of both are multiplied."""
    trainer = make_trainer(service, run_id, block)
    rows.reorder([6, 1, 4, 3, 0, 7, 2, 5])
    batch = submit(trainer, rows, monkeypatch)
    batch.reorder([2, 7, 0, 5, 3, 6, 1, 4])
    order = list(batch.keys)
    batch = trainer._compute_advantage(batch, {})
    assert batch.keys == order
    data = as_actor_fetches(batch).select("rollout_is_weights", "response_mask", "advantages").to_padded_tensor()
    size = data["advantages"].abs().amax(dim=1).exp() if "pipelines" in block else torch.ones(len(order))
    kept = torch.tensor([float(key.startswith("b_")) for key in order])
    expected = (size / size.mean() * kept)[:, None] * data["response_mask"]
    torch.testing.assert_close(data["rollout_is_weights"], expected, check_dtype=False)
    trainer._dataflex_client.close()


def test_a_step_is_named_by_its_trigger_too(trainer: Any, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    at: list[tuple[int, int]] = []
    weights = trainer._dataflex_run.weights
    monkeypatch.setattr(
        trainer._dataflex_run,
        "weights",
        lambda step, *, trigger: at.append((step, trigger)) or weights(step, trigger=trigger),
    )
    for trigger in range(2):
        trainer.local_trigger_step = trigger
        trainer._compute_advantage(submit(trainer, rows, monkeypatch), {})
    assert at == [(1, 0), (1, 1)]

"""verl's settings of `data`, under a trainer that draws prompts itself: verl's own data set, its filter, its sizes and its order."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from blocks import MIX, at
from toy_loop import loop_config, make_loop

BLOCK = {**MIX, "domain_key": "data_source"}
# Prompts 2, 5, 8 … are too long.
LONG = [i for i in range(24) if i % 3 == 2]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """24 prompts, a quarter of them hard, as verl's users have them."""
    path = tmp_path / "train.jsonl"
    rows = [
        {
            "prompt": [{"role": "user", "content": "long " * 90 if i in LONG else "short"}],
            "data_source": "hard" if i % 4 == 0 else "easy",
            "extra_info": {"index": i},
        }
        for i in range(24)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def settings(file: Path, **more: Any) -> dict[str, Any]:
    return {
        "data__custom_cls__path": None,
        "data__custom_cls__name": None,
        "data__train_files": [str(file)],
        "data__val_files": [str(file)],
        "data__max_prompt_length": 20,
        "data__filter_overlong_prompts": True,
        "data__dataloader_num_workers": 2,
        "trainer__total_training_steps": 6,
        "trainer__save_freq": -1,
        **more,
    }


def test_filter_sizes_and_order_are_verls(
    queue: None, service: Any, run_id: str, tmp_path: Path, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    block = at(service, run_id, BLOCK)
    more = settings(file, data__shuffle=False, data__gen_batch_size=2)
    with caplog.at_level(logging.INFO, "dataflex_mq"):
        trainer, rollout = make_loop(loop_config(tmp_path, "dataflex_mq_mix_sync", block, **more))
    # verl's workers read for validation alone, which is said.
    assert "dataloader_num_workers" in caplog.text
    trainer.fit(rollout)
    drawn = [index for batch in rollout.drawn for index in batch]
    # A batch a step, whatever the size of verl's fetches.
    assert [len(batch) for batch in rollout.drawn] == [4] * 6
    assert not set(drawn) & set(LONG)
    # Unshuffled, each domain is gone through as it stands in the file.
    hard = [index for index in drawn if index % 4 == 0]
    assert hard[:5] == [0, 4, 12, 16, 0] or len(hard) < 5
    easy = [index for index in drawn if index % 4 != 0]
    assert easy[:4] == [1, 3, 6, 7]


@pytest.mark.parametrize("seed", [1, None])
def test_the_seed_decides_the_order(
    queue: None, service: Any, run_id: str, tmp_path: Path, file: Path, seed: int | None
) -> None:
    """Without a seed of verl's it is 0, so that a run can be repeated."""
    drawn = []
    for name in ("a", "b"):
        config = loop_config(
            tmp_path, "dataflex_mq_mix_sync", at(service, f"{run_id}-{name}", BLOCK), **settings(file, data__seed=seed)
        )
        trainer, _ = make_loop(config)
        drawn.append([trainer._draw.take(4) for _ in range(5)])
        trainer._dataflex_client.close()
    assert drawn[0] == drawn[1]


def test_a_column_that_is_missing_is_named(queue: None, service: Any, run_id: str, tmp_path: Path, file: Path) -> None:
    from dataflex_mq import DataflexError

    block = at(service, run_id, MIX)
    with pytest.raises(DataflexError, match=r"no column 'domain'; it has .*data_source"):
        make_loop(loop_config(tmp_path, "dataflex_mq_mix_sync", block, **settings(file)))

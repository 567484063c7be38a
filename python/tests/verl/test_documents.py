"""What the documents about verl show and list is what there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from blocks import MIX_AND_WEIGH, at
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf, open_dict
from toy_loop import loop_config, make_loop
from verl.trainer.ppo.v1 import get_trainer_cls
from verl_config import verl_config

from dataflex_mq.verl.names import INHERITED, TRAINERS
from dataflex_mq.verl.versions import PROVEN_TRANSFER_QUEUE, PROVEN_VERL
from helpers.paths import REPOSITORY

PAGES = [
    REPOSITORY / "python/docs/verl.md",
    REPOSITORY / "python/README.md",
    REPOSITORY / "docs/moving-from-dataflex-verl.md",
]
TEXT = {page.name: page.read_text() for page in PAGES}


def blocks(language: str) -> list[tuple[str, str]]:
    found = [
        (name, block)
        for name, text in TEXT.items()
        for block in re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.S | re.M)
    ]
    assert found
    return found


@pytest.mark.parametrize(("name", "block"), blocks("yaml"))
def test_a_yaml_block_mounts(service: Any, run_id: str, name: str, block: str) -> None:
    config = verl_config(None)
    with open_dict(config):
        config.merge_with(OmegaConf.create(yaml.safe_load(block)))
        config.dataflex.redis_url = service.url
        config.dataflex.run_id = run_id
    trainer = get_trainer_cls(config.trainer.v1.trainer_mode)(config)
    trainer._dataflex_client.close()


def test_the_command_is_one_that_hydra_understands(service: Any, run_id: str) -> None:
    commands = [block for _, block in blocks("sh") if "verl.trainer.main_ppo" in block]
    assert commands
    for command in commands:
        words = shlex.split(command.replace("\\\n", " "), comments=True)
        overrides = [word for word in words if "=" in word]
        assert len(overrides) == 4
        with initialize_config_module("verl.trainer.config", version_base=None):
            config = compose("ppo_trainer", overrides=overrides)
        with open_dict(config):
            config.dataflex.redis_url = service.url
            config.dataflex.run_id = run_id
            config.actor_rollout_ref.rollout.n = 4
            config.algorithm.adv_estimator = "grpo"
        trainer = get_trainer_cls(config.trainer.v1.trainer_mode)(config)
        trainer._dataflex_client.close()


def test_what_is_installed_is_a_proven_pair() -> None:
    pairs = [pair for text in TEXT.values() for pair in re.findall(r'"verl==([\d.]+)" "TransferQueue==([\d.]+)"', text)]
    assert len(pairs) >= 2
    assert all(verl in PROVEN_VERL and queue in PROVEN_TRANSFER_QUEUE for verl, queue in pairs)


def test_every_trainer_is_listed() -> None:
    rows = re.findall(r"^\| (`dataflex_.*?`) \| `(\w+)` \| (yes|no) \|$", TEXT["verl.md"], re.M)
    listed = {name: (mode, mixes == "yes") for names, mode, mixes in rows for name in re.findall(r"`(\w+)`", names)}
    assert listed == {**TRAINERS, **{name: TRAINERS[own] for name, own in INHERITED.items()}}


def test_every_metric_is_listed(queue: None, service: Any, run_id: str, tmp_path: Path) -> None:
    steps = {"trainer__total_training_steps": 1, "trainer__save_freq": -1}
    block = at(service, run_id, MIX_AND_WEIGH)
    trainer, rollout = make_loop(loop_config(tmp_path, "dataflex_mq_mix_sync", block, **steps))
    trainer.fit(rollout)
    logged = {name for name in trainer.logged[0] if "dataflex" in name}
    table = TEXT["verl.md"].split("## Log and metrics")[1].split("\n## ")[0]
    named = {
        name.replace("<pipeline>", "size").replace("<domain>", domain)
        for row in re.findall(r"^\| (`.*?`) \|", table, re.M)
        for name in re.findall(r"`([^`…]+)`", row)
        for domain in ("easy", "hard")
    }
    assert {name for name in named if "/" in name} <= logged
    own = re.compile(r"dataflex/(size|mix)/")
    assert {name for name in logged if not own.match(name)} <= named

"""The configurations that come with the package, composed into verl's own."""

from __future__ import annotations

import pytest
from hydra import compose, initialize_config_module
from omegaconf import DictConfig

from dataflex_mq import DataflexError
from dataflex_mq.verl.settings import settings_of


@pytest.mark.parametrize(
    ("name", "actuator"), [("reweight", "softmax"), ("select", "threshold_band"), ("token", "advantage_reweight")]
)
def test_a_recipe_is_one_override(name: str, actuator: str) -> None:
    config = composed(f"+dataflex={name}", "+dataflex.redis_url=redis://host")
    settings = settings_of(config, "dataflex_mq_sync", mixes=False)
    assert settings.dataflex["actuator"]["name"] == actuator
    assert settings.redis_url == "redis://host"
    assert settings.run_id == f"{config.trainer.project_name}/{config.trainer.experiment_name}"


def test_mix_asks_for_the_domains() -> None:
    with pytest.raises(DataflexError, match="domains"):
        settings_of(composed("+dataflex=mix"), "dataflex_mq_mix_sync", mixes=True)
    config = composed("+dataflex=mix", "dataflex.domains=[math,code]")
    settings = settings_of(config, "dataflex_mq_mix_sync", mixes=True)
    assert settings.dataflex["domains"] == ["math", "code"]
    assert "data_source" in settings.provides


def composed(*overrides: str) -> DictConfig:
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=["hydra.searchpath=[pkg://dataflex_mq.config]", *overrides])

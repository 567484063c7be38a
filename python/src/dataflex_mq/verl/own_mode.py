"""What verl must not see in a configuration that names one of these trainers."""

from __future__ import annotations

from omegaconf import DictConfig, OmegaConf, open_dict

from .log import log


def show_verl_its_own(config: DictConfig, verl_mode: str) -> None:
    """
    verl, and code that reads the configuration later, asks "is the mode sync?" and treats every other name as asynchronous.
    dataflex_verl's configurations name a sampler that reads what only its own trainer writes, and that today's verl cannot run.
    """
    with open_dict(config):
        config.trainer.v1.trainer_mode = verl_mode
        path = OmegaConf.select(config, "trainer.v1.sampler.custom_sampler.path")
        if path and "dataflex_verl" in str(path):
            log.warning("dataflex: trainer.v1.sampler.custom_sampler (%s) is dataflex_verl's and is ignored", path)
            config.trainer.v1.sampler.custom_sampler = None

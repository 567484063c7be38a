"""What a trainer takes from verl's configuration, checked before any engine starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ..errors import DataflexError, error

# verl's policy losses that multiply the loss of each token by `rollout_is_weights`.
MULTIPLYING_LOSSES = (
    "vanilla",
    "dppo_tv",
    "dppo_kl",
    "gspo",
    "sapo",
    "gpg",
    "clip_cov",
    "kl_cov",
    "dro",
    "cispo",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """
    dataflex: the block as plain data, without what only this adapter reads. adv_estimator: its name. provides: fields that this run's verl
    computes. group_size: responses of a prompt.
    """

    dataflex: Mapping[str, Any]
    run_id: str
    redis_url: str | None
    adv_estimator: str
    provides: tuple[str, ...]
    group_size: int
    mount_timeout: float


def settings_of(config: DictConfig, trainer: str, mixes: bool) -> Settings:
    """
    Raises CONFIG with every problem at once: no `dataflex` block, mixing under a trainer that does not mix or the reverse, a policy loss
    that does not multiply by the weights.
    """
    block = OmegaConf.select(config, "dataflex")
    if not isinstance(block, DictConfig):
        raise _refuse(
            [
                f"dataflex: trainer_mode {trainer} needs a dataflex block. Add `+dataflex=reweight` with "
                "`hydra.searchpath=[pkg://dataflex_mq.config]`, or write the block in YAML"
            ]
        )
    try:
        dataflex: dict[str, Any] = OmegaConf.to_container(block, resolve=True, throw_on_missing=True)  # type: ignore[assignment]
    except OmegaConfBaseException as caught:
        raise _refuse([f"dataflex: {caught}"]) from caught
    problems = [*_loss_problems(config, dataflex), *_mechanism_problems(dataflex, trainer, mixes)]
    if problems:
        raise _refuse(problems)
    trainer_config = config.trainer
    return Settings(
        dataflex={key: value for key, value in dataflex.items() if key not in _ADAPTER_KEYS},
        run_id=dataflex.get("run_id") or f"{trainer_config.project_name}/{trainer_config.experiment_name}",
        redis_url=dataflex.get("redis_url"),
        adv_estimator=_name(config.algorithm.adv_estimator),
        provides=tuple(_provides(config, dataflex)),
        group_size=int(config.actor_rollout_ref.rollout.n),
        mount_timeout=float(dataflex.get("mount_timeout_s", 120)),
    )


# Read here and unknown to the service.
_ADAPTER_KEYS = ("mount_timeout_s", "multiplies_weights")


def pipelines_of(dataflex: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The pipelines by name, whichever way they are written."""
    named = dataflex.get("pipelines")
    return dict(named) if isinstance(named, Mapping) else {"main": dataflex}


def _mechanism_problems(dataflex: Mapping[str, Any], trainer: str, mixes: bool) -> list[str]:
    mixing = [name for name, one in pipelines_of(dataflex).items() if _mixes(one)]
    if mixing and not mixes:
        other = trainer.replace("dataflex_mq_", "dataflex_mq_mix_").replace("dataflex_sync", "dataflex_mix_sync")
        return [
            f'dataflex: pipeline "{mixing[0]}" mixes domains, and {trainer} never does: set trainer_mode to {other}'
        ]
    if mixes and len(mixing) != 1:
        return [
            f"dataflex: {trainer} draws prompts by the one pipeline whose mechanism is mix; there are {len(mixing)}"
        ]
    return []


def _mixes(pipeline: Any) -> bool:
    return isinstance(pipeline, Mapping) and pipeline.get("mechanism") == "mix" and not pipeline.get("shadow", False)


def _loss_problems(config: DictConfig, dataflex: Mapping[str, Any]) -> list[str]:
    weighing = [
        one for one in pipelines_of(dataflex).values() if isinstance(one, Mapping) and one.get("mechanism") != "mix"
    ]
    if not weighing:
        return []
    problems = []
    path = "actor_rollout_ref.actor.policy_loss.loss_mode"
    mode = OmegaConf.select(config, path, default="vanilla") or "vanilla"
    if mode == "bypass_mode":
        problems.append(f"{path}: bypass_mode ignores rollout_is_weights, so no weight would reach the loss")
    elif mode == "geo_mean":
        problems.append(
            f"{path}: geo_mean multiplies a row by the geometric mean of its weights, so one dropped token crushes the whole row"
        )
    elif mode not in MULTIPLYING_LOSSES and not dataflex.get("multiplies_weights", False):
        problems.append(
            f"{path}: it is not known whether {mode!r} multiplies by rollout_is_weights. If it does, say so: "
            "+dataflex.multiplies_weights=true"
        )
    if OmegaConf.select(config, "algorithm.use_pf_ppo", default=False):
        problems.append(
            "algorithm.use_pf_ppo: it resamples rows under the original keys, so weights would meet other rows"
        )
    return problems


def _provides(config: DictConfig, dataflex: Mapping[str, Any]) -> list[str]:
    """What verl's rows hold when weights are asked for."""
    rollout = config.actor_rollout_ref.rollout
    bypass = OmegaConf.select(config, "algorithm.rollout_correction.bypass_mode", default=False)
    kl_loss = OmegaConf.select(config, "actor_rollout_ref.actor.use_kl_loss", default=False)
    kl_reward = OmegaConf.select(config, "algorithm.use_kl_in_reward", default=False)
    fields = ["uid", "session", "response_mask", "rm_scores", "old_log_probs", "advantages", "returns"]
    having = {
        "entropy": not bypass,
        "rollout_log_probs": bool(rollout.get("calculate_log_probs", False)),
        "ref_log_prob": bool(kl_loss or kl_reward),
        "token_level_rewards": bool(kl_reward),
        "values": _name(config.algorithm.adv_estimator) == "gae",
    }
    columns = [one.get("domain_key", "domain") for one in pipelines_of(dataflex).values() if _mixes(one)]
    return [*fields, *(name for name, there in having.items() if there), *columns]


def _name(estimator: Any) -> str:
    return str(getattr(estimator, "value", estimator))


def _refuse(problems: list[str]) -> DataflexError:
    return error("CONFIG", "; ".join(problems), {"problems": problems})

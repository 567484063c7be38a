"""What a trainer takes from verl's configuration, checked before any engine starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from verl.trainer.ppo.utils import need_critic

from ..errors import DataflexError, error
from .queue_rows import VERSION
from .versions import installed

# What the service wants to know of the trainer, and where verl has it (docs/protocol.md section 5.3; a test compares the two).
TRAINER_PATHS = {
    "loss_mode": "actor_rollout_ref.actor.policy_loss.loss_mode",
    "loss_agg_mode": "actor_rollout_ref.actor.loss_agg_mode",
    "bypass_mode": "algorithm.rollout_correction.bypass_mode",
    "use_pf_ppo": "algorithm.use_pf_ppo",
    "use_kl_loss": "actor_rollout_ref.actor.use_kl_loss",
    "use_kl_in_reward": "algorithm.use_kl_in_reward",
    "calculate_log_probs": "actor_rollout_ref.rollout.calculate_log_probs",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """
    dataflex: the block as plain data, without what only this adapter reads. adv_estimator: its name. provides: fields that this run's verl
    computes. group_size: responses of a prompt. trainer: verl's settings by which the service judges whether weights have their effect.
    """

    dataflex: Mapping[str, Any]
    run_id: str
    redis_url: str | None
    adv_estimator: str
    provides: tuple[str, ...]
    group_size: int
    trainer: Mapping[str, Any]
    mount_timeout: float


def settings_of(config: DictConfig, trainer: str, mixes: bool) -> Settings:
    """
    Raises CONFIG with every problem at once: no `dataflex` block, mixing under a trainer that does not mix or the reverse, weights where
    there is no policy loss. The rest is the service's to judge.
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
        dataflex = cast(dict[str, Any], OmegaConf.to_container(block, resolve=True, throw_on_missing=True))
    except OmegaConfBaseException as caught:
        raise _refuse([f"dataflex: {caught}"]) from caught
    problems = [*_mechanism_problems(dataflex, trainer, mixes), *_distillation_problems(config, dataflex)]
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
        trainer=_trainer(config),
        mount_timeout=float(dataflex.get("mount_timeout_s", 120)),
    )


# Read here and unknown to the service.
_ADAPTER_KEYS = ("mount_timeout_s",)


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


def _distillation_problems(config: DictConfig, dataflex: Mapping[str, Any]) -> list[str]:
    """verl leaves the policy loss out where a run does nothing but distil."""
    at = "distillation.distillation_loss"
    if not OmegaConf.select(config, "distillation.enabled") or all(
        _mixes(one) for one in pipelines_of(dataflex).values()
    ):
        return []
    if any(OmegaConf.select(config, f"{at}.{name}") for name in ("use_task_rewards", "use_policy_gradient")):
        return []
    return [
        f"{at}: without use_task_rewards or use_policy_gradient there is no policy loss, so no weight would have any effect. "
        "Set one of them to true, or mix domains alone"
    ]


def _trainer(config: DictConfig) -> dict[str, Any]:
    found = {name: OmegaConf.select(config, path) for name, path in TRAINER_PATHS.items()}
    return {"verl": installed("verl"), **{name: value for name, value in found.items() if value is not None}}


def _provides(config: DictConfig, dataflex: Mapping[str, Any]) -> list[str]:
    """
    What verl's rows may hold when weights are asked for, and `*`: whatever else an agent loop adds is seen only when rows are there.
    Fields that depend on a setting of `TRAINER_PATHS` are all named: the service has a rule for each, which says more than that the field
    is missing.
    """
    fields = ["uid", "session", "session_index", "response_mask", "rm_scores", "old_log_probs", "advantages", "returns"]
    ruled = ["entropy", "rollout_log_probs", "ref_log_prob"]
    tags = [VERSION]
    having = {"token_level_rewards": config.algorithm.use_kl_in_reward, "values": need_critic(config)}
    columns = [one.get("domain_key", "domain") for one in pipelines_of(dataflex).values() if _mixes(one)]
    return [*fields, *ruled, *tags, *(name for name, there in having.items() if there), *columns, "*"]


def _name(estimator: Any) -> str:
    return str(getattr(estimator, "value", estimator))


def _refuse(problems: list[str]) -> DataflexError:
    return error("CONFIG", "; ".join(problems), {"problems": problems})

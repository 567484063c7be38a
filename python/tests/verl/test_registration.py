"""Names in verl's registry, unproven versions, and what a constructor refuses before anything starts."""

from __future__ import annotations

import re
from importlib import metadata
from types import ModuleType
from typing import Any

import pytest
from verl.trainer.ppo.v1 import (
    PPOTrainerColocateAsync,
    PPOTrainerSeparateAsync,
    PPOTrainerSync,
    get_trainer_cls,
    trainer_base,
)
from verl_config import verl_config

from dataflex_mq import Client, DataflexError
from dataflex_mq.redis.keys import run_keys
from dataflex_mq.verl import names, plugin, register, versions
from dataflex_mq.verl.settings import TRAINER_PATHS, settings_of
from dataflex_mq.verl.trainer import DataflexTrainer
from helpers.paths import REPOSITORY

SOFTMAX = {"mechanism": "reweight", "scorer": {"name": "advantage_magnitude"}, "actuator": {"name": "softmax"}}
MIX = {"mechanism": "mix", "domains": ["a", "b"], "actuator": {"name": "static"}}
NOWHERE = {"redis_url": "redis://127.0.0.1:1", "run_id": "r"}


def refusal(dataflex: dict[str, Any] | None, mode: str = "dataflex_mq_sync", **paths: Any) -> DataflexError:
    with pytest.raises(DataflexError) as caught:
        get_trainer_cls(mode)(verl_config(dataflex, mode, **paths))
    return caught.value


def test_importing_verl_registers_every_trainer() -> None:
    assert any(point.value == "dataflex_mq.verl.plugin" for point in metadata.entry_points(group="verl.plugins"))
    own = {"sync": PPOTrainerSync, "colocate_async": PPOTrainerColocateAsync, "separate_async": PPOTrainerSeparateAsync}
    for name, (mode, _) in names.TRAINERS.items():
        trainer = get_trainer_cls(name)
        assert issubclass(trainer, DataflexTrainer)
        assert issubclass(trainer, own[mode])
    assert get_trainer_cls("dataflex_sync") is get_trainer_cls("dataflex_mq_sync")
    assert get_trainer_cls("dataflex_mix_sync") is get_trainer_cls("dataflex_mq_mix_sync")


def test_names_of_an_installed_dataflex_verl_are_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "installed", lambda _: "0.1")
    assert names.names_of("dataflex_mq_sync") == ["dataflex_mq_sync"]


def test_an_unproven_verl_gets_trainers_that_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_base, "TRAINER_REGISTRY", {})
    monkeypatch.setattr(register, "installed", lambda _: "9.9.9")
    plugin.register()
    with pytest.raises(DataflexError, match=r"this is verl 9\.9\.9 .*pip install \"verl==0\.9\.1\""):
        trainer_base.get_trainer_cls("dataflex_mq_sync")(verl_config(SOFTMAX))


def test_a_verl_that_the_trainers_cannot_be_built_on_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataflex_mq.verl import trainers

    def fail() -> dict[str, type]:
        raise ImportError("PPOTrainerSync has moved")

    monkeypatch.setattr(trainer_base, "TRAINER_REGISTRY", {})
    monkeypatch.setattr(trainers, "make_trainers", fail)
    plugin.register()
    with pytest.raises(DataflexError, match="PPOTrainerSync has moved"):
        trainer_base.get_trainer_cls("dataflex_sync")(verl_config(SOFTMAX))


def test_registering_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("no registry")

    monkeypatch.setattr(register, "register_all", fail)
    plugin.register()


def test_versions_that_are_proven() -> None:
    assert versions.unproven("0.9.1", "0.1.11") is None
    assert versions.unproven("0.9.2", "0.1.11") is not None
    assert versions.unproven("0.9.1", None) is not None


def test_an_asynchronous_mode_needs_a_queue_that_can_be_saved() -> None:
    versions.refuse_unproven("sync", ModuleType("transfer_queue"))
    with pytest.raises(DataflexError, match="Install a later one"):
        versions.refuse_unproven("colocate_async", ModuleType("transfer_queue"))


def test_without_a_block_the_refusal_says_what_to_write() -> None:
    assert "+dataflex=reweight" in refusal(None).message


LOSS = "actor_rollout_ref__actor__policy_loss__loss_mode"


def scored(scorer: str, actuator: str = "softmax", **options: Any) -> dict[str, Any]:
    return {"mechanism": "reweight", "scorer": {"name": scorer}, "actuator": {"name": actuator}, **options}


@pytest.mark.parametrize(
    ("dataflex", "paths", "said"),
    [
        (SOFTMAX, {LOSS: "bypass_mode"}, "bypass_mode ignores rollout_is_weights"),
        (SOFTMAX, {LOSS: "my_own"}, "i_know_it_multiplies: true"),
        (scored("token_entropy", "entropy_topk"), {LOSS: "geo_mean"}, "one zero would silence the row"),
        (SOFTMAX, {"algorithm__use_pf_ppo": True}, "use_pf_ppo: false"),
        (scored("seq_entropy"), {"algorithm__rollout_correction__bypass_mode": True}, "reads entropy"),
        (
            scored("seq_is_ratio"),
            {"actor_rollout_ref__rollout__calculate_log_probs": False},
            "calculate_log_probs: true",
        ),
        (scored("ref_kl", "advantage_reweight"), {}, "use_kl_loss: true or algorithm.use_kl_in_reward: true"),
        (scored("group_solve_rate"), {"actor_rollout_ref__rollout__n": 1}, "rollout.n"),
        (scored("group_solve_rate"), {"algorithm__adv_estimator": "gae"}, "gae"),
    ],
)
def test_what_the_service_refuses_of_verls_settings(
    service: Any, run_id: str, dataflex: dict[str, Any], paths: dict[str, Any], said: str
) -> None:
    caught = refusal({**dataflex, "redis_url": service.url, "run_id": run_id}, **paths)
    assert caught.code == "CONFIG"
    assert said in caught.message


@pytest.mark.parametrize(
    ("paths", "level"),
    [
        ({}, "token"),
        ({"actor_rollout_ref__actor__loss_agg_mode": "seq-mean-token-mean"}, "row"),
        ({LOSS: "gspo"}, "row"),
    ],
)
def test_auto_normalises_by_verls_loss(service: Any, run_id: str, paths: dict[str, Any], level: str) -> None:
    block = {**SOFTMAX, "normalize": "auto", "redis_url": service.url, "run_id": run_id}
    trainer = get_trainer_cls("dataflex_mq_sync")(verl_config(block, **paths))
    (pipeline,) = trainer._dataflex_run.handle["pipelines"]
    assert pipeline["normalize"] == level
    assert trainer._dataflex_run.handle["warnings"] == []
    trainer._dataflex_client.close()


def test_a_loss_of_the_users_own_is_taken_on_their_word(service: Any, run_id: str) -> None:
    block = {**SOFTMAX, "i_know_it_multiplies": True, "redis_url": service.url, "run_id": run_id}
    trainer = get_trainer_cls("dataflex_mq_sync")(verl_config(block, **{LOSS: "my_own"}))
    trainer._dataflex_client.close()


def test_the_services_settings_are_read_where_the_protocol_says() -> None:
    rows = re.findall(r"^\| `(\w+)\?` \| \w+ \| `([\w.]+)` \|$", (REPOSITORY / "docs/protocol.md").read_text(), re.M)
    assert dict(rows) == TRAINER_PATHS


def test_weights_need_a_policy_loss() -> None:
    paths = {"distillation__enabled": True, "distillation__distillation_loss__use_task_rewards": False}
    assert "there is no policy loss" in refusal({**SOFTMAX, **NOWHERE}, **paths).message
    other = {**paths, "distillation__distillation_loss__use_policy_gradient": True}
    settings_of(verl_config(SOFTMAX, **other), "dataflex_mq_sync", mixes=False)
    settings_of(verl_config(MIX, **paths), "dataflex_mq_mix_sync", mixes=True)


def test_mechanism_and_trainer_must_fit() -> None:
    assert "set trainer_mode to dataflex_mq_mix_sync" in refusal({**MIX, **NOWHERE}).message
    assert "set trainer_mode to dataflex_mix_sync" in refusal({**MIX, **NOWHERE}, "dataflex_sync").message
    assert "there are 0" in refusal({**SOFTMAX, **NOWHERE}, "dataflex_mq_mix_sync").message


def test_the_service_validates_before_an_engine_starts(service: Any, run_id: str) -> None:
    block = {**SOFTMAX, "actuator": {"name": "softmax", "params": {"temprature": 1}}}
    caught = refusal({**block, "redis_url": service.url, "run_id": run_id})
    assert "temprature" in caught.message


def test_an_unreachable_redis_is_named() -> None:
    assert refusal({**SOFTMAX, **NOWHERE}).code == "REDIS_UNREACHABLE"


def test_verl_sees_its_own_mode_and_no_left_over_sampler(service: Any, run_id: str) -> None:
    sampler = {"path": "pkg://dataflex_verl.buffer", "name": "DataflexReplayBuffer"}
    config = verl_config(
        {**SOFTMAX, "redis_url": service.url, "run_id": run_id},
        "dataflex_sync",
        trainer__v1__sampler__custom_sampler=sampler,
    )
    trainer = get_trainer_cls("dataflex_sync")(config)
    assert config.trainer.v1.trainer_mode == "sync"
    assert trainer.trainer_mode == "sync"
    assert type(trainer.replay_buffer).__name__ == "ReplayBuffer"
    trainer._dataflex_client.close()


def test_a_run_that_a_killed_trainer_left_busy_is_taken_once_its_heartbeat_lapses(service: Any, run_id: str) -> None:
    with Client(service.url) as killed:
        before = killed.mount(run_id, SOFTMAX, adv_estimator="grpo")
        before._heartbeat.stop()
        service.client().pexpire(run_keys(run_id).trainer, 700)
        config = verl_config({**SOFTMAX, "redis_url": service.url, "run_id": run_id})
        trainer = get_trainer_cls("dataflex_mq_sync")(config)
        assert trainer._dataflex_run.handle["incarnation"] > before.handle["incarnation"]
        trainer._dataflex_client.close()

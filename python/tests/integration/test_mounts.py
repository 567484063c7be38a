"""Mounting: what is refused and why, versions, incarnations that fence each other."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

from dataflex_mq import Client, DataflexError, FencedError, InputError, MountError, RedisError, WireError
from dataflex_mq.redis.keys import CONTROL, run_keys
from helpers.fixture_f import SELECT, SOFTMAX, SOFTMAX_WEIGHTS, block, fields
from helpers.processes import PrivateRedis, Service, eventually
from helpers.runs import mounted, weighed

STAGE = "post_advantage"


def test_a_configuration_is_refused_with_every_problem_and_a_suggestion(client: Client, run_id: str) -> None:
    config = block("reweight", ("advantage_magnitude", {"ag": "sum"}), "softmaks", normalise="row")
    with pytest.raises(InputError) as caught:
        mounted(client, run_id, config)
    assert caught.value.code == "CONFIG"
    paths = [".".join(map(str, problem["path"])) for problem in caught.value.details["problems"]]
    assert len(paths) >= 3
    assert "softmax" in caught.value.message


def test_a_scorer_that_needs_groups_wants_an_estimator(client: Client, run_id: str) -> None:
    class Estimator(str, enum.Enum):
        GRPO = "grpo"
        GAE = "gae"

    with pytest.raises(InputError):
        client.mount(run_id=run_id, dataflex=SELECT)
    run = client.mount(run_id=run_id, dataflex=SELECT, adv_estimator=Estimator.GRPO, group_size=4)
    assert run.handle["pipelines"][0]["group_size"] == 4


def test_a_field_that_the_trainer_does_not_have_is_named(client: Client, run_id: str) -> None:
    with pytest.raises(InputError, match="advantages"):
        mounted(client, run_id, SOFTMAX, provides=["rm_scores", "response_mask"])


def test_settings_of_the_trainer_under_which_weights_are_lost_are_refused(client: Client, run_id: str) -> None:
    with pytest.raises(InputError, match="use_pf_ppo"):
        mounted(client, run_id, SOFTMAX, trainer={"use_pf_ppo": True})
    with pytest.raises(InputError, match="no_such_setting"):
        mounted(client, run_id, SOFTMAX, trainer={"no_such_setting": 1})
    assert mounted(client, run_id, SOFTMAX, trainer={"use_pf_ppo": False, "verl": "0.9.1"}).handle["v"] == 2


def test_data_in_a_configuration_is_refused(client: Client, run_id: str) -> None:
    with pytest.raises(InputError, match="is there data in it"):
        mounted(client, run_id, {**SOFTMAX, "data": list(range(500_000))})


def test_a_password_in_the_blocks_address_does_not_travel() -> None:
    private = PrivateRedis()
    try:
        with Client(private.url) as client, private.client() as reader:
            with pytest.raises(DataflexError, match="none is alive"):
                client.mount(run_id="r", dataflex={**SOFTMAX, "redis_url": "redis://me:secret@h"}, timeout=0.2)
            ((_, sent),) = reader.xrange(CONTROL)
        assert b"redis://me:***@h" in sent[b"request"]
        assert b"secret" not in sent[b"request"]
    finally:
        private.stop()


def test_numpy_scalars_in_a_configuration_are_plain_values(client: Client, run_id: str) -> None:
    config = block(
        "reweight", "advantage_magnitude", ("softmax", {"temperature": np.float32(2)}), warmup_step=np.int64(0)
    )
    run = mounted(client, run_id, config)
    assert run.handle["pipelines"][0]["actuator"]["params"] == {"temperature": 2}
    with pytest.raises(InputError, match=r"dataflex\.x"):
        mounted(client, run_id, {"x": np.zeros(3)})


def test_a_run_has_one_living_trainer_and_a_takeover_fences_it(
    client: Client, service: PrivateRedis, run_id: str
) -> None:
    first = mounted(client, run_id, SOFTMAX)
    with pytest.raises(MountError) as caught:
        mounted(client, run_id, SOFTMAX)
    assert caught.value.code == "RUN_BUSY"
    weighed(first, 1, fields())
    with Client(service.url) as other:
        second = mounted(other, run_id, SOFTMAX, takeover=True)
        assert second.handle["incarnation"] > first.handle["incarnation"]
        for work in (lambda: first.put(2, STAGE, fields()), lambda: first.weights(2, timeout=5.0)):
            with pytest.raises(FencedError, match=r"this one must stop|it must stop"):
                work()
        np.testing.assert_allclose(weighed(second, 1, fields()).weights, SOFTMAX_WEIGHTS, atol=1e-6)
    first._beat()
    with pytest.raises(FencedError, match="was replaced by a later trainer"):
        first.put(3, STAGE, fields())


def test_the_same_mount_id_gets_the_same_answer(client: Client, run_id: str) -> None:
    first = mounted(client, run_id, SOFTMAX, mount_id="m-1")
    assert mounted(client, run_id, SOFTMAX, mount_id="m-1").handle == first.handle


def test_a_version_that_nobody_else_speaks_is_refused(
    client: Client, service: PrivateRedis, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = mounted(client, run_id, SOFTMAX)
    monkeypatch.setattr("dataflex_mq.client.mount.PROTOCOL_VERSIONS", [99])
    with pytest.raises(WireError) as caught:
        mounted(client, f"{run_id}-later", SOFTMAX)
    assert caught.value.code == "PROTOCOL_VERSION"
    with pytest.raises(WireError, match="the run speaks protocol 2, this client 99"):
        client.attach(run_id)
    assert run.handle["v"] == 2


def test_an_answer_that_is_no_message_is_one_typed_error(client: Client, service: PrivateRedis, run_id: str) -> None:
    mounted(client, run_id, SOFTMAX)
    service.client().hset(run_keys(run_id).mount, "handle", b"\x81\xa1a")
    with pytest.raises(WireError) as caught:
        client.attach(run_id)
    assert caught.value.code == "DECODE"


@pytest.mark.parametrize("name", ["exp:7", "ünïcode/run", "x" * 300, "a b"])
def test_any_name_names_a_run(client: Client, name: str) -> None:
    np.testing.assert_allclose(weighed(mounted(client, name, SOFTMAX), 1, fields()).weights, SOFTMAX_WEIGHTS, atol=1e-6)


def test_what_is_missing_is_said(run_id: str) -> None:
    private = PrivateRedis()
    running: list[Service] = []
    try:
        with Client(private.url) as client:
            with pytest.raises(MountError, match=r"none is alive\. Start one: dataflex-mq broker") as caught:
                mounted(client, run_id, SOFTMAX, timeout=0.3)
            assert caught.value.code == "NO_BROKER"
            with pytest.raises(MountError, match="is not mounted"):
                client.attach(run_id)
            running.append(Service("broker", private.url).wait_until_ready())
            with pytest.raises(MountError) as caught:
                mounted(client, run_id, SOFTMAX, timeout=1.0)
            assert caught.value.code == "NO_WORKER"
            with pytest.raises(InputError, match="give the run a name"):
                mounted(client, "", SOFTMAX)
    finally:
        for one in [*running, private]:
            one.close()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://x", "the scheme must be redis"),
        ("redis://h:notaport", "not a Redis address"),
        ("unix://", "no socket path"),
        ("redis://h/zero", "it is a number"),
        ("redis://h?keyPrefix=a", "keyPrefix is refused"),
    ],
)
def test_a_wrong_address_is_refused_without_its_password(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Client(address.replace("://", "://user:secret@") if "@" not in address and "://h" in address else address)
    assert caught.value.code == "USAGE"
    assert "secret" not in str(caught.value)


def test_no_address_and_an_absent_server_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DFX_REDIS_URL", raising=False)
    monkeypatch.delenv("REDIS_URL", raising=False)
    with pytest.raises(InputError, match="set DFX_REDIS_URL"):
        Client()
    monkeypatch.setenv("REDIS_URL", "redis://:secret@127.0.0.1:1")
    with pytest.raises(RedisError, match=r"redis://:\*\*\*@127\.0\.0\.1:1") as caught:
        Client(connect_timeout=0.2)
    assert caught.value.code == "REDIS_UNREACHABLE"


def test_a_mix_state_goes_into_a_checkpoint_and_back(client: Client, service: PrivateRedis, run_id: str) -> None:
    config = block("mix", None, ("reward_gap", {"floor": 0.05}), domains=["math", "code"])
    given = {**fields(), "domain": np.array(["math"] * 4 + ["code"] * 4, dtype=object)}
    run = mounted(client, run_id, config)
    shares = [next(iter(weighed(run, step, given).pipelines.values())).proportions for step in (1, 2)]
    state = run.mix_state("main")
    assert sorted(state["steps"]) == ["1.0", "2.0"]
    service.client().delete(run_keys(run_id).state("main"))
    assert run.mix_state("main")["steps"] == {}
    run.restore_mix_state("main", state)
    assert run.mix_state("main") == state
    assert next(iter(weighed(run, 3, given).pipelines.values())).proportions == pytest.approx(shares[1])
    for work, message in (
        (lambda: run.mix_state("other"), "there is no pipeline"),
        (lambda: run.restore_mix_state("main", {"steps": {}}), "no saved state"),
        (lambda: run.restore_mix_state("main", {**state, "steps": {"1": {}}}), "cannot be read"),
    ):
        with pytest.raises(DataflexError, match=message):
            work()
    eventually("the state is there", lambda: service.client().exists(run_keys(run_id).state("main")))


def test_a_selector_s_memory_goes_into_a_checkpoint_and_back(
    client: Client, service: PrivateRedis, run_id: str
) -> None:
    k = {"k_hardest": 4, "k_hard": 4, "k_medium": 4, "k_easy": 1}
    config = block("select", "reward_difficulty", ("gfpo_adaptive", {**k, "warmup": 2}))
    prompts = np.arange(100) // 5  # twenty of five responses; the mean reward of prompt g is g / 20
    given = {
        "rm_scores": (prompts / 20).astype(np.float32)[:, None],
        "response_mask": np.ones((100, 1), dtype=np.int64),
        "uid": np.array([f"g{g}" for g in prompts], dtype=object),
    }
    run = mounted(client, run_id, config)

    def kept(step: int) -> int:
        return int((weighed(run, step, given).pipelines["main"].weights > 0).sum())

    assert [kept(1), kept(2)] == [80, 80]
    state = run.mix_state("main")
    assert sorted(state["steps"]) == ["1.0", "2.0"]
    service.client().delete(run_keys(run_id).state("main"))
    assert kept(3) == 80
    run.restore_mix_state("main", state)
    assert run.mix_state("main") == state
    assert kept(4) == 15 * 4 + 5


def test_a_pipeline_without_a_state_says_so(client: Client, run_id: str) -> Any:
    with pytest.raises(InputError, match="remembers nothing"):
        mounted(client, run_id, SOFTMAX).mix_state("main")

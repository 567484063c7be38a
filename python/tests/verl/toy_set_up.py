"""What verl's trainers would start on GPUs, in this process."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ray
from toy_workers import ToyWorkers
from verl.utils.config import omega_conf_to_dataclass
from verl.workers.rollout.router import GlobalRequestLoadBalancer


class ToySetUp:
    """In front of a trainer: everything that `_setup` would start."""

    config: Any

    def _setup(self) -> None:
        decode = lambda ids, **_: " ".join(str(int(one)) for one in ids)  # noqa: E731
        template = lambda messages, **_: [0] * len(messages[0]["content"].split())  # noqa: E731
        self.tokenizer = SimpleNamespace(eos_token_id=0, pad_token_id=0, decode=decode, apply_chat_template=template)
        self.processor = None
        self._init_dataloader()
        self._init_dump_executor()
        self.checkpoint_manager = _replicas()
        self.reward_loop_manager = SimpleNamespace(reward_loop_worker_handles=[])
        self.resource_pool_manager = SimpleNamespace(get_n_gpus=lambda: 1)
        self.llm_server_manager = SimpleNamespace(server_addresses=["hybrid"], server_handles=[None])
        self.actor_rollout_wg = ToyWorkers(omega_conf_to_dataclass(self.config.actor_rollout_ref.actor))
        self.ref_in_actor = False
        self._load_checkpoint()
        if self.trainer_mode == "separate_async":
            self._set_up_standalone()

    def _set_up_standalone(self) -> None:
        """The servers beside the trainer; verl's own balancer says who serves."""
        from verl.trainer.ppo.v1.trainer_separate_async import HybridEngineMode

        balancer = _InThisProcess(GlobalRequestLoadBalancer(servers={"standalone": None}))
        self.standalone_server_manager = SimpleNamespace(global_load_balancer=balancer)
        self.standalone_checkpoint_manager = _replicas()
        self.current_mode = HybridEngineMode.ROLLOUT
        self.add_replicas_to_balancer()


class _InThisProcess:
    """Called as a Ray actor is."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        return SimpleNamespace(remote=lambda *args: ray.put(method(*args)))


def _replicas() -> Any:
    """Rollout servers that need nothing."""
    calls = ("update_weights", "sleep_replicas", "abort_replicas", "resume_generation_replicas")
    return SimpleNamespace(**dict.fromkeys(calls, lambda *_, **__: None))

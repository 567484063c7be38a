"""
verl's real loop around a model of one vector. Only the set-up, the worker groups and the rollout are replaced: workers run in this process
behind verl's real TransferQueue bridge, with its real `ppo_loss`; `step`, `_step_once`, `_balance_batch`, `_compute_*`, `_update_actor`,
the replay buffer, the data loader and TransferQueue are verl's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import transfer_queue as tq
from stored_rows import Row, store
from tensordict import TensorDict
from torch.utils.data import Dataset
from verl.trainer.ppo.v1 import get_trainer_cls
from verl.utils import tensordict_utils as tu
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.transferqueue_utils import tqbridge
from verl.workers.utils.losses import ppo_loss

VOCABULARY = 16


class ToyDataset(Dataset):
    """16 prompts of two domains, "easy" and "hard", a quarter of them hard."""

    def __init__(self, **_: Any) -> None:
        self.rows = [{"domain": "hard" if i % 4 == 0 else "easy", "index": i} for i in range(16)]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {"raw_prompt": [{"role": "user", "content": str(i)}], **self.rows[i]}


class ToyWorkers:
    """A worker group of one rank."""

    def __init__(self, actor_config: Any) -> None:
        self._dispatch_info = {"actor": [0]}
        self._config = actor_config
        self.logits = torch.zeros(VOCABULARY, requires_grad=True)
        self.updates: list[dict[str, Any]] = []

    def _log_probs(self, data: TensorDict) -> Any:
        ids = data["input_ids"]
        values = torch.log_softmax(self.logits, 0)[ids.values() % VOCABULARY]
        return torch.nested.nested_tensor_from_jagged(values, offsets=ids.offsets())

    def compute_log_prob(self, batch: Any) -> Any:
        @tqbridge()
        def compute(data: TensorDict) -> TensorDict:
            with torch.no_grad():
                log_probs = self._log_probs(data)
            # TransferQueue takes tensors apart by row.
            rows = list(log_probs.unbind())
            entropy = [torch.ones_like(row) for row in rows]
            fields = {
                "log_probs": torch.nested.as_nested_tensor(rows, layout=torch.jagged),
                "entropy": torch.nested.as_nested_tensor(entropy, layout=torch.jagged),
            }
            return TensorDict(fields, batch_size=len(rows))

        return compute(batch)

    def update_actor(self, batch: Any) -> TensorDict:
        @tqbridge()
        def update(data: TensorDict) -> TensorDict:
            for name, value in (("dp_size", 1), ("batch_num_tokens", None)):
                tu.assign_non_tensor_data(data, name, value)
            log_probs = self._log_probs(data)
            loss, _ = ppo_loss(self._config, {"log_probs": log_probs}, data)
            (gradient,) = torch.autograd.grad(loss, self.logits)
            with torch.no_grad():
                self.logits -= 0.02 * gradient
            weights = data["rollout_is_weights"].to_padded_tensor(0.0) if "rollout_is_weights" in data else None
            mask = data["response_mask"].to_padded_tensor(0)
            self.updates.append({"weights": weights, "mask": mask, "loss": float(loss)})
            return tu.get_tensordict({}, {"metrics": {"mfu": 0.0, "pg_loss": [float(loss)]}})

        return update(batch)

    def save_checkpoint(self, path: str, *_: Any, **__: Any) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)
        torch.save(self.logits.detach(), Path(path) / "logits.pt")

    def load_checkpoint(self, local_path: str, **_: Any) -> None:
        self.logits = torch.load(Path(local_path) / "logits.pt").requires_grad_()


class ToySetUp:
    """In front of a trainer: everything that `_setup` would start on GPUs."""

    def _setup(self) -> None:
        self.tokenizer = SimpleNamespace(eos_token_id=0, pad_token_id=0)
        self.processor = None
        self._init_dataloader()
        self._init_dump_executor()
        nothing = lambda *_, **__: None  # noqa: E731
        replicas = ("update_weights", "sleep_replicas", "abort_replicas", "resume_generation_replicas")
        self.checkpoint_manager = SimpleNamespace(**dict.fromkeys(replicas, nothing))
        self.reward_loop_manager = SimpleNamespace(reward_loop_worker_handles=[])
        self.resource_pool_manager = SimpleNamespace(get_n_gpus=lambda: 1)
        self.llm_server_manager = None
        self.actor_rollout_wg = ToyWorkers(omega_conf_to_dataclass(self.config.actor_rollout_ref.actor))
        self.ref_in_actor = False
        self._load_checkpoint()


class ToyRollout:
    """
    Responses by rule: lengths and rewards follow from the prompt's number and the session. The last session of prompts 1 and 9 is lost, so
    that verl pads the batch.
    """

    def __init__(self, sessions: int) -> None:
        self.sessions = sessions
        self.drawn: list[list[int]] = []
        self.domains: list[list[str]] = []

    def generate_sequences(self, prompts: TensorDict) -> None:
        uids, indexes, domains = (list(prompts[name]) for name in ("uid", "index", "domain"))
        indexes = [int(i) for i in indexes]
        steps = tu.get_non_tensor_data(prompts, "global_steps", 1)
        self.drawn.append(indexes)
        self.domains.append(domains)
        rows: list[Row] = []
        for uid, index, domain in zip(uids, indexes, domains, strict=True):
            lost = index % 8 == 1
            rows += [self._row(uid, session, index, domain) for session in range(self.sessions - lost)]
        store(rows, global_steps=steps)
        tags = [{"is_prompt": True, "status": "finished", "global_steps": steps} for _ in uids]
        tq.kv_batch_put(keys=uids, partition_id="train", tags=tags)

    @staticmethod
    def _row(uid: str, session: int, index: int, domain: str) -> Row:
        length = 1 + (index + session) % 4
        reward = float((index + session) % 2 if domain == "easy" else session == 0)
        rollout_log_probs = torch.full((length,), float(-np.log(VOCABULARY)) - 0.15 * session)
        columns = {"domain": domain, "rollout_log_probs": rollout_log_probs}
        return Row(f"{uid}_{session}_0", [1] * length, reward, columns)


class Killed(Exception):  # noqa: N818
    """The trainer's process ends here."""


def make_loop(config: Any, kill_at: int | None = None) -> tuple[Any, ToyRollout]:
    """A trainer, initialised, and its rollout. kill_at: the step that ends with `Killed`, after its checkpoint."""
    trainer_class = get_trainer_cls(config.trainer.v1.trainer_mode)

    class ToyTrainer(ToySetUp, trainer_class):
        def on_step_end(self) -> None:
            super().on_step_end()
            if self.global_steps == kill_at:
                raise Killed

    trainer = ToyTrainer(config)
    trainer.init()
    return trainer, ToyRollout(config.actor_rollout_ref.rollout.n)


def loop_paths(folder: Path, **paths: Any) -> dict[str, Any]:
    """Settings that every loop here has, for `verl_config`."""
    return {
        "data__custom_cls__path": str(Path(__file__)),
        "data__custom_cls__name": "ToyDataset",
        "data__train_batch_size": 4,
        "data__dataloader_num_workers": 0,
        "data__seed": 3,
        "actor_rollout_ref__actor__ppo_mini_batch_size": 4,
        "actor_rollout_ref__rollout__calculate_log_probs": True,
        "trainer__val_before_train": False,
        "trainer__test_freq": -1,
        "trainer__save_freq": 5,
        "trainer__total_epochs": 100,
        "trainer__total_training_steps": 10,
        "trainer__default_local_dir": str(folder),
        "trainer__n_gpus_per_node": 1,
        **paths,
    }


def weights_of(updates: Sequence[dict[str, Any]]) -> list[np.ndarray]:
    return [update["weights"].numpy() for update in updates]

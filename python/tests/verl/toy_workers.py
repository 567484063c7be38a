"""The actor of the toy: one vector of logits, behind verl's real bridge to the queue, with verl's real loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tensordict import TensorDict
from verl.utils import tensordict_utils as tu
from verl.utils.transferqueue_utils import tqbridge
from verl.workers.utils.losses import ppo_loss

VOCABULARY = 16


class ToyWorkers:
    """A worker group of one rank."""

    def __init__(self, actor_config: Any) -> None:
        self._dispatch_info = {"actor": [0]}
        self._config = actor_config
        self.logits = torch.zeros(VOCABULARY, requires_grad=True)
        self._kept: dict[int, torch.Tensor] = {}
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

    def save_model_to_cpu(self, n: int) -> None:
        self._kept[n] = self.logits.detach().clone()

    def restore_model_from_cpu(self, n: int) -> None:
        self.logits = self._kept[n].clone().requires_grad_()

    def clear_cpu_model(self, n: int) -> None:
        del self._kept[n]

    def save_checkpoint(self, path: str, *_: Any, **__: Any) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)
        torch.save(self.logits.detach(), Path(path) / "logits.pt")

    def load_checkpoint(self, local_path: str, **_: Any) -> None:
        self.logits = torch.load(Path(local_path) / "logits.pt").requires_grad_()

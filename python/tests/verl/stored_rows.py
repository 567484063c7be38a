"""Rows stored as verl's agent loops store them, and fetched as its workers fetch them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import transfer_queue as tq
from tensordict import TensorDict
from verl.utils.tensordict_utils import list_of_dict_to_tensordict
from verl.utils.transferqueue_utils import tqbridge


@dataclass
class Row:
    """A response: `key` is `{uid}_{session}_{index}`, `mask` its response mask, `reward` what stands on its last token."""

    key: str
    mask: Sequence[int]
    reward: float
    columns: Mapping[str, Any] = field(default_factory=dict)


def store(rows: Sequence[Row], global_steps: int = 1, prompt_len: int = 2, partition: str = "train") -> Any:
    """Puts the rows and answers the metadata that verl's replay buffer would: keys and tags, no fields."""
    fields, tags = [], []
    for row in rows:
        response_len = len(row.mask)
        responses = torch.arange(1, response_len + 1)
        prompts = torch.ones(prompt_len, dtype=torch.int64)
        rewards = torch.zeros(response_len)
        rewards[-1] = row.reward
        mask = torch.tensor(row.mask, dtype=torch.int64)
        input_ids = torch.cat([prompts, responses])
        fields.append(
            {
                "prompts": prompts,
                "responses": responses,
                "input_ids": input_ids,
                "position_ids": torch.arange(len(input_ids)),
                "response_mask": mask,
                "loss_mask": mask,
                "rm_scores": rewards,
                "uid": row.key.rsplit("_", 2)[0],
                "num_turns": 1,
                "extra_fields": {},
                **row.columns,
            }
        )
        tags.append(
            {
                "status": "success",
                "prompt_len": prompt_len,
                "response_len": response_len,
                "seq_len": prompt_len + response_len,
                "global_steps": global_steps,
                "min_global_steps": global_steps,
                "max_global_steps": global_steps,
            }
        )
    keys = [row.key for row in rows]
    tq.kv_batch_put(keys=keys, fields=list_of_dict_to_tensordict(fields), tags=tags, partition_id=partition)
    return tq.KVBatchMeta(partition_id=partition, keys=keys, tags=tags, extra_info={"temperature": 1.0})


def store_log_probs(batch: Any, rows: Sequence[Row]) -> Any:
    """The old-log-prob pass: one put, whose metadata verl goes on with."""
    values = [torch.linspace(-1.0, -0.5, len(row.mask)) for row in rows]
    old = torch.nested.as_nested_tensor(values, layout=torch.jagged)
    fields = TensorDict({"old_log_probs": old}, batch_size=len(rows))
    return tq.kv_batch_put(keys=batch.keys, partition_id=batch.partition_id, fields=fields)


def as_actor_fetches(batch: Any) -> TensorDict:
    """What a worker's `update_actor` is handed for this metadata: verl's own bridge does the fetching."""
    seen: list[TensorDict] = []

    @tqbridge()
    def update_actor(data: TensorDict) -> None:
        seen.append(data)

    update_actor(batch)
    return seen[0]

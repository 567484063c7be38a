"""Responses by rule, stored in the queue as verl's agent loops store them."""

from __future__ import annotations

import numpy as np
import torch
import transfer_queue as tq
from stored_rows import Row, store
from tensordict import TensorDict
from toy_workers import VOCABULARY
from verl.utils import tensordict_utils as tu


class ToyRollout:
    """
    Lengths and rewards follow from the prompt's number and the session. The last session of prompts 1 and 9 is lost, so that verl pads the
    batch. `drawn`, `domains`: the training prompts of each call.
    """

    def __init__(self, sessions: int) -> None:
        self.sessions = sessions
        self.drawn: list[list[int]] = []
        self.domains: list[list[str]] = []

    def generate_sequences(self, prompts: TensorDict) -> None:
        column = "domain" if "domain" in prompts else "data_source"
        uids, indexes, domains = (list(prompts[name]) for name in ("uid", "index", column))
        indexes = [int(i) for i in indexes]
        steps = tu.get_non_tensor_data(prompts, "global_steps", 1)
        validates = tu.get_non_tensor_data(prompts, "validate", False)
        if not validates:
            self.drawn.append(indexes)
            self.domains.append(domains)
        rows: list[Row] = []
        for uid, index, domain in zip(uids, indexes, domains, strict=True):
            sessions = 1 if validates else self.sessions - (index % 8 == 1)
            rows += [self._row(uid, session, index, column, domain) for session in range(sessions)]
        partition = "val" if validates else "train"
        store(rows, global_steps=steps, partition=partition)
        tags = [{"is_prompt": True, "status": "finished", "global_steps": steps} for _ in uids]
        tq.kv_batch_put(keys=uids, partition_id=partition, tags=tags)

    @staticmethod
    def _row(uid: str, session: int, index: int, column: str, domain: str) -> Row:
        length = 1 + (index + session) % 4
        reward = float((index + session) % 2 if domain == "easy" else session == 0)
        rollout_log_probs = torch.full((length,), float(-np.log(VOCABULARY)) - 0.15 * session)
        columns = {column: domain, "rollout_log_probs": rollout_log_probs}
        return Row(f"{uid}_{session}_0", [1] * length, reward, columns)

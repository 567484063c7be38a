"""Trainers that draw prompts by domain, in the proportions that the run's mix pipeline gives."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np
import torch
from verl.utils import tensordict_utils as tu
from verl.utils.dataset.rl_dataset import collate_fn

from ..client.step_result import StepResult
from ..errors import RedisError, error
from .checkpoint import read_state, write_state
from .domain_draw import DomainDraw
from .log import log
from .metrics import metric_part
from .queue_rows import read_stored
from .trainer import DataflexTrainer

GOES_ON = "goes on from what Redis has"


class MixingTrainer(DataflexTrainer):
    """
    The proportions that come with a step's outcome hold from the next draw on. They act where prompts are drawn, refills and asynchronous
    warm-up included; verl's own data loader is left alone and not used for training.
    """

    @property
    def _mix_spec(self) -> dict[str, Any]:
        return next(
            one for one in self._dataflex_run.handle["pipelines"] if one["mechanism"] == "mix" and not one["shadow"]
        )

    def _init_dataloader(self) -> None:
        super()._init_dataloader()
        spec = self._mix_spec
        domains = spec["domains"]
        data = self.config.data
        seed = (data.get("seed") or 0) if data.get("shuffle", True) else None
        shares = spec.get("prior") or [1.0] * len(domains)
        if data.dataloader_num_workers:
            log.info(
                "dataflex: prompts are read in the trainer's process; data.dataloader_num_workers is for validation"
            )
        self._draw = DomainDraw(_column(self.train_dataset, spec["domain_key"]), domains, shares, seed)

    def _fetch_one_gen_batch(self) -> Any:
        return self._draw_prompts(self.config.data.get("gen_batch_size", None) or self.config.data.train_batch_size)

    def _next_train_batch(self, num_prompts: int | None = None) -> Any:
        """All at once: by whole prompts of the batch, not of its chunks."""
        batch = self._draw_prompts(self.config.data.train_batch_size if num_prompts is None else num_prompts)
        tu.assign_non_tensor_data(batch, "global_steps", self.global_steps)
        return batch

    def _draw_prompts(self, count: int) -> Any:
        batch = collate_fn([self.train_dataset[row] for row in self._draw.take(count)])
        batch["uid"] = np.array([str(uuid.uuid4()) for _ in range(count)], dtype=object)
        return tu.get_tensordict(batch)

    def _collected(self, batch: Any, result: StepResult, metrics: dict) -> None:
        spec = self._mix_spec
        found = result.pipelines.get(spec["name"])
        if found is not None and found.proportions is not None:
            self._draw.set_shares(found.proportions)
        total = sum(self._draw.shares)
        for name, share in zip(self._draw.domains, self._draw.shares, strict=True):
            metrics[f"dataflex/prop_{metric_part(name)}"] = share / total
        metrics.update(_rewards(batch, spec["domain_key"]))

    def _save_checkpoint(self) -> None:
        """Before verl's own, which ends by marking the folder as complete. The checkpoint is written even if Redis cannot be reached."""
        name = self._mix_spec["name"]
        folder = Path(self.config.trainer.default_local_dir) / f"global_step_{self.global_steps}"
        mix = None
        try:
            mix = self._dataflex_run.mix_state(name)
        except RedisError as caught:
            log.warning("dataflex: %s is written without the mixer's memory: %s", folder, caught)
        write_state(folder, {"pipeline": name, "mix": mix, "draw": self._draw.state()})
        super()._save_checkpoint()

    def _load_checkpoint(self) -> None:
        super()._load_checkpoint()
        if self.global_steps == 0:
            return
        trainer = self.config.trainer
        folder = Path(trainer.default_local_dir) / f"global_step_{self.global_steps}"
        if trainer.resume_mode == "resume_path":
            folder = Path(trainer.resume_from_path)
        state = read_state(folder)
        if state is None:
            log.warning("dataflex: %s holds no state of the draw: domains start anew, the mix %s", folder, GOES_ON)
            return
        self._draw.load(state["draw"])
        if state["mix"] is None:
            log.warning("dataflex: %s holds no memory of the mixer: it %s", folder, GOES_ON)
            return
        # The checkpoint is the truth: Redis may hold steps that this run is about to do again, or nothing.
        name = self._mix_spec["name"]
        self._dataflex_run.restore_mix_state(name, {**state["mix"], "pipeline": name})


def _column(dataset: Any, name: str) -> list[str]:
    """A column of verl's data set. Raises CONFIG naming the columns there are."""
    frame = getattr(dataset, "dataframe", None)
    having = sorted(dataset[0]) if frame is None else list(getattr(frame, "column_names", None) or frame.columns)
    if name not in having:
        message = f"dataflex.domain_key: the training data has no column {name!r}; it has {', '.join(having)}"
        raise error("CONFIG", message, {"columns": having})
    if frame is None:
        return [str(dataset[row][name]) for row in range(len(dataset))]
    return [str(value) for value in frame[name]]


def _rewards(batch: Any, column: str) -> dict[str, float]:
    """`dataflex/reward_<domain>`: mean reward of the step's live rows of a domain."""
    stored = read_stored(list(batch.keys), batch.partition_id, ["rm_scores", column])
    rewards = torch.stack([row.sum() for row in stored["rm_scores"].unbind()]).numpy()
    padding = np.array([bool(tag.get("is_padding", False)) for tag in batch.tags])
    domains = np.array([str(one) for one in list(stored[column])], dtype=object)
    live = sorted(set(domains[~padding]))
    return {
        f"dataflex/reward_{metric_part(name)}": float(rewards[(domains == name) & ~padding].mean()) for name in live
    }

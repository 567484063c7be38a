"""What every trainer adds to verl's: fields are sent, weights come back and reach the loss."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

import transfer_queue as tq
from tensordict import TensorDict

from ..client.client import Client
from ..client.pending import PendingStep
from ..client.step_result import StepResult
from ..errors import error
from .metrics import pipeline_metrics, result_metrics, weight_metrics
from .mounting import mount
from .own_mode import show_verl_its_own
from .queue_rows import read_rows, read_stored
from .settings import settings_of
from .versions import refuse_unproven

if TYPE_CHECKING:
    from verl.trainer.ppo.v1.trainer_base import PPOTrainer
else:
    # `trainers.py` decides which of verl's trainers comes after this class.
    PPOTrainer = object

WEIGHTS = "rollout_is_weights"


class DataflexTrainer(PPOTrainer):
    """
    Stands in front of one of verl's trainers in the order of bases. All of TransferQueue is called on the trainer's own thread. A step is
    (global_steps, local_trigger_step); validation is verl's alone.

    post_reward fields leave as soon as the rows are final (after `_balance_batch`), so that scoring runs beside verl's log-prob passes;
    post_advantage fields leave, and all weights are collected, in `_compute_advantage`.
    """

    # verl's mode that this trainer extends, whether prompts are drawn by domain, and the name it is registered under.
    verl_mode: ClassVar[str]
    mixes: ClassVar[bool]
    trainer_name: ClassVar[str]

    def __init__(self, config: Any) -> None:
        """Raises USAGE on an unproven verl; CONFIG with every problem; what `Client.mount` raises. No engine runs yet."""
        refuse_unproven(self.verl_mode, tq)
        settings = settings_of(config, config.trainer.v1.trainer_mode, self.mixes)
        self._pending: PendingStep | None = None
        self._submitted_at = 0.0
        self._dataflex_client = Client(settings.redis_url)
        try:
            self._dataflex_run = mount(self._dataflex_client, settings)
            show_verl_its_own(config, self.verl_mode)
            super().__init__(config)
        except BaseException:
            self._dataflex_client.close()
            raise

    def fit(self, agent_loop_manager: Any) -> None:
        try:
            super().fit(agent_loop_manager)
        finally:
            self._dataflex_client.close()

    def _balance_batch(self, batch: Any, *args: Any, **kwargs: Any) -> Any:
        batch = super()._balance_batch(batch, *args, **kwargs)
        self._pending = None
        wanted = self._wanted("post_reward")
        if wanted:
            rows = read_rows(batch, wanted)
            self._pending = self._dataflex_run.submit(
                self.global_steps,
                "post_reward",
                rows.fields,
                trigger=self.local_trigger_step,
                keys=rows.keys,
                lengths=rows.lengths,
                is_padding=rows.is_padding,
            )
            self._submitted_at = time.monotonic()
        return batch

    def _compute_advantage(self, batch: Any, metrics: dict) -> Any:
        batch = super()._compute_advantage(batch, metrics)
        result = self._collect(batch, metrics)
        self._collected(batch, result, metrics)
        batch = self._write_weights(batch, result, metrics)
        self._dataflex_run.release(self.global_steps, self.local_trigger_step)
        return batch

    def _collect(self, batch: Any, metrics: dict) -> StepResult:
        """Sends what belongs to post_advantage, its mask as rejection left it, and waits for every pipeline."""
        run, pending = self._dataflex_run, self._pending
        hidden = None if pending is None else time.monotonic() - self._submitted_at
        self._pending = None
        wanted = self._wanted("post_advantage")
        if wanted:
            rows = read_rows(batch, wanted)
            run.put(
                self.global_steps,
                "post_advantage",
                rows.fields,
                trigger=self.local_trigger_step,
                keys=rows.keys,
                lengths=rows.lengths,
                is_padding=rows.is_padding,
            )
        if pending is not None:
            # The error of a refused put says more than the timeout that it would lead to.
            pending.sent()
        result = run.weights(self.global_steps, trigger=self.local_trigger_step)
        metrics.update({**result_metrics(result, hidden), **pipeline_metrics(result)})
        return result

    def _collected(self, batch: Any, result: StepResult, metrics: dict) -> None:
        """For trainers that want more of a result than its weights."""

    def _write_weights(self, batch: Any, result: StepResult, metrics: dict) -> Any:
        """
        Multiplies into the rows' `rollout_is_weights` and answers the metadata of this put: workers fetch the fields that the metadata
        names and no others, so under any older one the weights would never be read.
        """
        weighs = any(one.compact is not None for one in result.pipelines.values())
        if result.neutral is not None or not weighs:
            return batch
        # Weights come in the order in which the rows were put last, which verl may have changed since.
        keys = list(result.keys or batch.keys)
        stored = read_stored(keys, batch.partition_id, ["response_mask", WEIGHTS])
        mask = stored["response_mask"]
        weights = result.rollout_is_weights(mask, stored.get(WEIGHTS))
        metrics.update(weight_metrics(weights, mask))
        written = tq.kv_batch_put(
            keys=keys,
            partition_id=batch.partition_id,
            fields=TensorDict({WEIGHTS: weights}, batch_size=len(keys)),
        )
        if written.fields is None or WEIGHTS not in written.fields:
            message = f"TransferQueue answered a put of {WEIGHTS} with metadata that does not name it; workers would not read it"
            raise error("INTERNAL", message, {"fields": written.fields})
        place = {key: row for row, key in enumerate(keys)}
        written.reorder([place[key] for key in batch.keys])
        # Of the metadata before, not of an older one: an early pass leaves "compute_loss: False" there, which would skip the update.
        written.extra_info = dict(batch.extra_info or {})
        return written

    def _wanted(self, stage: str) -> list[str]:
        return [field["name"] for field in self._dataflex_run.wants.get(stage, ())]

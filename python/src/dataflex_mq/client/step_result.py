"""What `weights(step)` answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..columns.device import torch_module
from ..columns.input import to_field_value
from ..columns.input_types import is_vector
from ..columns.mask import mask_of, same_mask
from ..columns.tensor import Features, MaskColumn, Strings
from ..errors import DataflexError, error
from ..redis.mounts import Handle
from .combined_report import combined_report
from .compose import Composed, RowWeights, Weights, compose, to_array
from .kept_rows import keep_rows, kept_rows
from .like import like_mask
from .open_steps import OpenStep
from .outcomes import PipelineResult
from .placement import torch_float, torch_place
from .step_metrics import step_metrics


class StepResult:
    """
    The weights of one step. `pipelines`: the delivered ones by name, in the order of the configuration. `neutral`: the error because of
    which no weights came, where `on_unavailable: neutral` let the step train as if there were none; else None. `waited`: seconds that
    the caller waited. `keys`: of the rows, in the order of all weights here: that of this producer's own put where that named every row of
    the last stage, else that of the step's first put; None where rows were put without keys.
    """

    def __init__(
        self,
        handle: Handle,
        step: int,
        trigger: int,
        waited: float,
        results: list[PipelineResult],
        neutral: DataflexError | None = None,
        record: OpenStep | None = None,
        keys: list[str] | None = None,
    ) -> None:
        """record: what this producer keeps of the step, where it has put any of it; it keeps the composition for the release report."""
        self.step = step
        self.trigger = trigger
        self.waited = waited
        self.neutral = neutral
        self.keys = keys
        self.pipelines: Mapping[str, PipelineResult] = {result.name: result for result in results}
        self._composition: Mapping[str, Any] = handle["composition"]
        self._record = record or OpenStep()
        self._over_loss: Composed | None = None

    @property
    def weights(self) -> np.ndarray:
        """
        The composition over the mask that scoring read, float32: (rows,) when every pipeline weighs rows, else (rows, L) with 0 outside the
        mask. All 1 when the step is neutral; empty when no pipeline weighs anything.
        """
        if self.neutral is not None:
            return np.ones(self._record.rows, dtype=np.float32)
        composed = self._over_scored
        return np.zeros(0, dtype=np.float32) if composed is None else to_array(composed.weights, composed.loss)

    def torch_weights(self, *, dtype: Any = None, device: Any = None) -> Any:
        """
        `weights` as a torch tensor with memory of its own, float32 on the CPU unless `dtype` or `device` say otherwise. Raises
        INVALID_INPUT.
        """
        held = torch_module().from_numpy(self.weights)
        return held.to(device=torch_place(device, held.device), dtype=torch_float(dtype))

    @property
    def statistics(self) -> dict[str, Any] | None:
        """
        What the composition did: `product`, statistics of the pipelines' product (step 1), and `stats`, those after re-mask, clip and
        rescale (step 4), over live rows (`level: sample`) or live tokens (`token`); `clipped`, shares that the clip moved. By the mask
        that the loss read once `rollout_is_weights` was asked, else by the one that scoring read. Each pipeline's own are
        `pipelines[name].header["stats"]`. None where nothing weighs the loss or no row is live.
        """
        composed = self._over_loss or self._over_scored
        return None if composed is None else combined_report(composed)

    def rollout_is_weights(self, mask: Any, existing: Any = None, *, dtype: Any = None, device: Any = None) -> Any:
        """
        The tensor that the loss multiplies in, over `mask`, the mask that the loss reads (which rejection may have cleared further since
        scoring); times `existing` rollout_is_weights unless `combine` is `replace`.

        mask: (rows, L) as NumPy array, torch tensor or list of rows → (rows, L), 0 outside the mask. A nested tensor or `Jagged` → the same
        kind, a value for each of the mask's tokens. float32 on the mask's device unless `dtype` or `device` say otherwise.

        Raises INVALID_INPUT: another number of rows; a live token that was masked when the weights were computed, with row and column;
        `existing` of another shape.
        """
        value = to_field_value("response_mask", mask)
        if isinstance(value, (Strings, Features)) or is_vector(value):
            raise error("INVALID_INPUT", "the mask has no token dimension; it is (rows, L) or ragged")
        width = value.width if hasattr(value, "width") else int(value.data.shape[1])
        loss = mask_of("response_mask", value, width)
        composed = self._compose(loss)
        weights = RowWeights(np.ones(loss.rows, dtype=np.float32)) if composed is None else composed.weights
        kept = None if self._composition["combine"] == "replace" else existing
        return like_mask(weights, loss, mask, kept, dtype, device)

    def metrics(self, prefix: str = "dataflex") -> dict[str, float]:
        """One flat dictionary of numbers for a logger: see `step_metrics`."""
        return step_metrics(self, prefix)

    @property
    def kept_rows(self) -> np.ndarray | None:
        """int64 (k,): rows that weigh in the loss, ascending; None where nothing weighs it: then all rows do."""
        composed = self._over_loss or self._over_scored
        return None if composed is None else kept_rows(composed)

    def keep(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """
        Fields with one entry a row (lists, arrays, tensors, nested tensors), cut to the rows that weigh in the loss: the rest needs no
        forward pass. Weights (`weights`, `rollout_is_weights`) are cut the same way. Raises INVALID_INPUT naming a field with another
        number of rows.
        """
        kept = self.kept_rows
        if kept is None or self._scored is None:
            return dict(fields)
        return keep_rows(fields, kept, self._scored.rows)

    def _compose(self, loss: MaskColumn) -> Composed | None:
        """The composition over the loss's mask, kept until another mask is asked for. None where nothing weighs the loss."""
        scored, kept = self._scored, self._over_loss
        if scored is None:
            return None
        if kept is None or not same_mask(kept.loss, loss):
            kept = self._over_scored if same_mask(scored, loss) else self._over(scored, loss)
            self._over_loss = kept
        self._record.composed = kept
        return kept

    @cached_property
    def _over_scored(self) -> Composed | None:
        """The composition over the mask that scoring read."""
        return None if self._scored is None else self._over(self._scored, self._scored)

    def _over(self, scored: MaskColumn, loss: MaskColumn) -> Composed:
        excluded = _excluded_rows(self._weighing, scored.rows)
        weights: list[Weights] = []
        for result in self._weighing:
            assert result.compact is not None
            # Pipelines of different stages may have read different masks; each is brought to the latest one before the product.
            mask = _mask_of(result)
            weights.append(result.compact if mask is scored else _rebase(result.compact, mask, scored, excluded))
        return compose(weights, scored, loss, self._composition, excluded)

    @cached_property
    def _weighing(self) -> list[PipelineResult]:
        """Mixers weigh nothing, and the weights of pre-rollout policies are for drawing prompts: neither concerns the loss."""
        if self.neutral is not None:
            return []
        return [
            result for result in self.pipelines.values() if result.compact is not None and result.stage != "pre_rollout"
        ]

    @cached_property
    def _scored(self) -> MaskColumn | None:
        """The mask of the latest stage: the one nearest to the loss's. None only where nothing weighs the loss."""
        latest = [result for result in self._weighing if result.stage == "post_advantage"] or self._weighing
        return _mask_of(latest[-1]) if latest else None


def _mask_of(result: PipelineResult) -> MaskColumn:
    """Raises DECODE: without its mask it is unknown which tokens a weight is for."""
    if result.mask is None:
        message = f'the weights of pipeline "{result.name}" came without their mask: its worker is not of this version. Update it'
        raise error("DECODE", message, {"pipeline": result.name})
    return result.mask


def _excluded_rows(weighing: list[PipelineResult], rows: int) -> np.ndarray:
    """bool (rows,): where any pipeline found padding or dropped the row; such a row weighs 0 and counts in no mean."""
    out = np.zeros(rows, dtype=bool)
    for result in weighing:
        if result.padding is not None:
            out |= result.padding
        if result.dropped is not None:
            out[result.dropped] = True
    return out


def _rebase(weights: Weights, mask: MaskColumn, onto: MaskColumn, excluded: np.ndarray) -> Weights:
    return compose([weights], mask, onto, {"combine": "multiply", "rescale": "none"}, excluded).weights

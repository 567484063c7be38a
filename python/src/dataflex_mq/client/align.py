"""Brings the results of a step's pipelines to the same rows, in the order in which the trainer has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..columns.row_ranges import rows_in
from ..columns.take_rows import flat_index, take_mask_rows
from ..protocol.stages import STAGES
from ..sentences import error_of
from .compose import RowWeights, TokenWeights, Weights
from .outcomes import PipelineResult


@dataclass(frozen=True, slots=True)
class StepRows:
    """rows: numbers of the step's table, in the order of the weights. keys: theirs, where the step has keys."""

    rows: np.ndarray
    keys: list[str] | None = None


def last_stage(results: Sequence[PipelineResult]) -> str | None:
    """The last stage whose pipelines weigh responses; None when none does."""
    stages = {one.stage for one in results if _weighs_responses(one)}
    return next((stage for stage in reversed(STAGES) if stage in stages), None)


def rows_of_step(
    results: Sequence[PipelineResult], last: str, table: Sequence[str] | None, order: Sequence[str] | None
) -> StepRows:
    """
    table: keys of all rows of the step, if it has keys. order: keys of the last stage's rows as the caller has them, where it put all of
    them: a permutation of the stage's own.
    """
    ranges = next(one.header["ranges"] for one in results if one.stage == last and one.compact is not None)
    rows = rows_in(ranges)
    if table is None:
        return StepRows(rows)
    if order is None or len(order) != len(rows):
        return StepRows(rows, [table[row] for row in rows])
    row_of = {key: row for row, key in enumerate(table)}
    return StepRows(np.array([row_of[key] for key in order], dtype=np.int64), list(order))


def align_result(result: PipelineResult, step: StepRows) -> PipelineResult:
    """A pipeline's result over the rows of its step. Raises ROWS_CONFLICT for a row that the pipeline did not see."""
    if result.compact is None or not _weighs_responses(result):
        return result
    own, rows = rows_in(result.header["ranges"]), step.rows
    if np.array_equal(own, rows):
        return result
    unseen = np.flatnonzero(~np.isin(rows, own))
    if len(unseen) > 0:
        at = int(unseen[0])
        row = int(rows[at])
        name = f'"{step.keys[at]}"' if step.keys else str(row)
        facts = {"row": name, "pipeline": result.name, "stage": result.stage}
        raise error_of("ROWS_CONFLICT.unseen", {"row": row, "pipeline": result.name}, **facts)
    order = np.searchsorted(own, rows)
    new_row = np.full(len(own), -1, dtype=np.int32)
    new_row[order] = np.arange(len(order))

    def moved(listed: np.ndarray | None) -> np.ndarray | None:
        return None if listed is None else np.sort(new_row[listed][new_row[listed] >= 0])

    header = {**result.header, "rows": len(rows)}
    if "extremes" in header:
        extremes = header["extremes"]
        header["extremes"] = {**extremes, "rows": new_row[extremes["rows"]].tolist()}
    return replace(
        result,
        header=header,
        compact=_take_weight_rows(result.compact, order),
        mask=None if result.mask is None else take_mask_rows(result.mask, order),
        padding=None if result.padding is None else result.padding[order],
        kept=moved(result.kept),
        dropped=moved(result.dropped),
    )


def _weighs_responses(result: PipelineResult) -> bool:
    """Mixers weigh nothing, and the weights of pre-rollout policies are for drawing prompts."""
    return result.compact is not None and result.stage != "pre_rollout"


def _take_weight_rows(weights: Weights, order: np.ndarray) -> Weights:
    if isinstance(weights, RowWeights):
        return RowWeights(weights.values[order])
    lengths = np.diff(weights.offsets)[order]
    index = flat_index(weights.offsets[:-1][order], lengths)
    return TokenWeights(np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))), weights.values[index])

"""Which rows of its step a put holds, by what earlier puts of the step have fixed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..columns.row_ranges import count_rows
from ..errors import DataflexError, error
from ..sentences import error_of
from .rows import KeyTable, RowPlan, key_table, plan_keys, plan_range


@dataclass(frozen=True, slots=True)
class FixedRows:
    """
    What earlier puts of the step have fixed. table: keys of all rows, where the first put named them. span: rows of the put's stage, as
    ranges of the table.
    """

    table: KeyTable | None = None
    span: list[int] | None = None


@dataclass(frozen=True, slots=True)
class PutRows:
    """total: rows of the table. is_part: this put fixes its own rows, a part of the table's, as those of its stage."""

    plan: RowPlan
    table: KeyTable | None
    total: int
    is_part: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the put names every row of its stage."""
        return self.is_part or count_rows(self.plan.ranges) == self.total


def plan_rows(
    keys: list[str] | None,
    rows: tuple[int, int] | None,
    total_rows: int | None,
    field_rows: int,
    stage: str,
    max_rows: int,
    fixed: Callable[[], FixedRows],
) -> PutRows:
    """
    field_rows: rows of the put's fields, which count where neither keys nor a range say it. fixed: reads what earlier puts have fixed; only
    puts with keys need it. Raises INVALID_INPUT, ROWS_CONFLICT, LIMIT.
    """
    count = len(keys) if keys is not None else rows[1] - rows[0] if rows else field_rows
    total = count if total_rows is None else total_rows
    if not 0 <= total <= max_rows:
        message = f"total_rows is {total}; it must be a whole number up to {max_rows}"
        raise error("LIMIT", message, {"total": total})
    if keys is None:
        return PutRows(plan_range(rows, total), None, total)
    known = fixed()
    table = known.table or key_table(keys)
    if known.table is None and count != total:
        raise _not_all_rows(stage, total, count)
    plan = plan_keys(keys, table.keys)
    whole = len(table.keys)
    if known.span is not None:
        _check_stage_total(total_rows, stage, count_rows(known.span), whole)
    # The first put of a stage fixes its rows, unless it says that the whole table is still to come.
    is_part = known.span is None and count < whole and total_rows != whole
    if is_part and count != total:
        raise _not_all_rows(stage, total, count)
    return PutRows(plan, table, whole, is_part)


def _check_stage_total(total_rows: int | None, stage: str, rows: int, whole: int) -> None:
    if total_rows in (None, rows, whole):
        return
    raise error_of("ROWS_CONFLICT.stage_total", total_rows=total_rows, stage=stage, rows=rows, all=whole)


def _not_all_rows(stage: str, total: int, count: int) -> DataflexError:
    message = f"the first put of stage {stage} with keys must name all {total} of them, this one names {count}"
    return error("INVALID_INPUT", message, {"total": total})

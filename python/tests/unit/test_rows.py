from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dataflex_mq.client.plan_rows import FixedRows, PutRows, plan_rows
from dataflex_mq.client.rows import check_keys, check_rows, key_table, plan_keys, plan_range
from dataflex_mq.columns.gather_mask import gather_mask
from dataflex_mq.columns.mask import mask_of
from dataflex_mq.columns.row_ranges import count_bits, count_rows, from_bitmap, ranges_of, rows_in, to_bitmap
from dataflex_mq.columns.spans import mask_spans
from dataflex_mq.columns.take_rows import take_rows
from dataflex_mq.columns.tensor import Jagged, MaskColumn, Strings, Tensor
from dataflex_mq.errors import DataflexError


@given(st.sets(st.integers(0, 60)))
def test_ranges_and_bitmaps_hold_the_rows(chosen: set[int]) -> None:
    rows = np.array(sorted(chosen), dtype=np.int64)
    ranges = ranges_of(rows)
    assert rows_in(ranges).tolist() == rows.tolist()
    assert count_rows(ranges) == len(rows)
    bitmap = to_bitmap(ranges, 61)
    assert len(bitmap) == 8
    assert [row for row in range(61) if bitmap[row >> 3] & (0x80 >> (row & 7))] == rows.tolist()
    assert count_bits(bitmap) == len(rows)
    assert from_bitmap(bitmap, 61) == ranges


def test_keys_are_put_in_row_order() -> None:
    plan = plan_keys(["c", "a"], ["a", "b", "c"])
    assert plan.ranges == [0, 1, 2, 3]
    assert plan.order is not None
    assert plan.order.tolist() == [1, 0]
    assert plan_keys(["b", "c"], ["a", "b", "c"]).order is None
    with pytest.raises(DataflexError, match='the first is "x"') as caught:
        plan_keys(["a", "x"], ["a"])
    assert caught.value.code == "ROWS_CONFLICT"


def test_wrong_rows_and_keys_are_refused() -> None:
    for rows in ((2, 2), (-1, 1), (0, 5)):
        with pytest.raises(DataflexError, match="not a range within the 4 rows"):
            plan_range(rows, 4)
    assert plan_range(None, 0).ranges == []
    assert check_rows(range(2, 4)) == check_rows(slice(2, 4)) == check_rows((2, 4)) == (2, 4)
    for wrong in (range(0, 4, 2), (1,), "ab", slice(None, 3)):
        with pytest.raises(DataflexError, match="INVALID_INPUT"):
            check_rows(wrong)
    assert check_keys(np.array(["a", "b"], dtype=object)) == ["a", "b"]
    with pytest.raises(DataflexError, match="occurs twice"):
        check_keys(["a", "a"])
    with pytest.raises(DataflexError, match="not a string"):
        check_keys([1])


def test_the_table_of_keys_has_the_digest_of_its_bytes() -> None:
    table = key_table(["a", "b"])
    assert table.blob == b"\x92\xa1a\xa1b"
    assert len(table.digest) == 32


def planned(keys: list[str], fixed: FixedRows, total: int | None = None) -> PutRows:
    return plan_rows(keys, None, total, 0, "post_advantage", 100, lambda: fixed)


def test_the_first_put_of_a_stage_names_its_rows() -> None:
    table = key_table(["a", "b", "c", "d"])
    first = planned(["b", "a"], FixedRows())
    assert (first.total, first.is_part, first.is_whole) == (2, False, True)
    assert first.table is not None
    assert first.table.keys == ["b", "a"]
    part = planned(["d", "b"], FixedRows(table))
    assert (part.plan.ranges, part.total, part.is_part, part.is_whole) == ([1, 2, 3, 4], 4, True, True)
    # The whole table is still to come, or an earlier put has named the part.
    assert not planned(["d", "b"], FixedRows(table), 4).is_part
    assert not planned(["b"], FixedRows(table, [1, 2, 3, 4])).is_whole
    assert not planned(["b"], FixedRows(table, [1, 2, 3, 4]), 2).is_part
    for fixed, total, code in (
        (FixedRows(), 3, "INVALID_INPUT"),
        (FixedRows(table), 3, "INVALID_INPUT"),
        (FixedRows(table, [1, 2, 3, 4]), 3, "ROWS_CONFLICT"),
        (FixedRows(), 101, "LIMIT"),
    ):
        with pytest.raises(DataflexError) as caught:
            planned(["d", "b"], fixed, total)
        assert caught.value.code == code


def test_rows_are_taken_in_another_order() -> None:
    order = np.array([2, 0])
    dense = take_rows(Tensor("f32", np.arange(6, dtype=np.float32).reshape(3, 2)), order)
    ragged = take_rows(Jagged("i32", np.arange(6, dtype=np.int32), np.array([2, 0, 4], np.int32), 4), order)
    assert isinstance(dense, Tensor)
    assert isinstance(ragged, Jagged)
    assert dense.data.tolist() == [[4, 5], [0, 1]]
    assert (ragged.values.tolist(), ragged.lengths.tolist()) == ([2, 3, 4, 5, 0, 1], [4, 2])
    assert take_rows(Strings(["a", "b", "c"]), order) == Strings(["c", "a"])


@given(arrays(np.bool_, (12, 5)), st.sets(st.integers(0, 11), min_size=1))
def test_a_mask_is_gathered_from_those_of_other_rows(mask: np.ndarray, wanted: set[int]) -> None:
    def column(rows: np.ndarray) -> MaskColumn:
        return mask_of("response_mask", Tensor("bool", mask[rows].view(np.uint8)), 5)

    pieces = [(column(rows_in(ranges)), ranges) for ranges in ([0, 4], [3, 8, 9, 10], [8, 9, 10, 12])]
    rows = np.array(sorted(wanted))
    found = gather_mask(pieces, ranges_of(rows))
    assert found is not None
    assert mask_spans(found).inside(0, len(rows)).tolist() == mask[rows].tolist()
    assert gather_mask(pieces[:1], [0, 5]) is None
    assert gather_mask([], [0, 5]) is None

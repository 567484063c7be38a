"""Which prompts come next, by domain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflex_mq import DataflexError
from dataflex_mq.verl.allocate import allocate
from dataflex_mq.verl.domain_draw import DomainDraw

COLUMN = ["a", "b", "a", "b", "a", "b", "b"]


def test_largest_remainder() -> None:
    assert allocate([0.5, 0.3, 0.2], 7, [0, 0, 0])[0] == [4, 2, 1]
    assert allocate([1, 1, 1], 64, [0, 0, 0])[0] == [22, 21, 21]


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=6), st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_shares_are_exact_over_time(shares: list[float], batches: list[int]) -> None:
    carry, given_out = [0.0] * len(shares), [0] * len(shares)
    for batch in batches:
        counts, carry = allocate(shares, batch, carry)
        assert sum(counts) == batch
        given_out = [a + b for a, b in zip(given_out, counts, strict=True)]
    for share, count in zip(shares, given_out, strict=True):
        assert abs(share / sum(shares) * sum(batches) - count) < len(shares)


def test_a_domain_is_used_up_before_it_repeats() -> None:
    draw = DomainDraw(COLUMN, ["a", "b"], [1, 1], seed=3)
    rows = [row for _ in range(6) for row in draw.take(2)]
    of_a = [row for row in rows if COLUMN[row] == "a"]
    assert sorted(of_a[:3]) == [0, 2, 4]
    assert sorted(of_a[3:]) == [0, 2, 4]


def test_a_saved_draw_goes_on() -> None:
    draw = DomainDraw(COLUMN, ["a", "b"], [0.3, 0.7], seed=3)
    draw.take(5)
    again = DomainDraw(COLUMN, ["a", "b"], [1, 1], seed=3)
    again.load(draw.state())
    assert [again.take(3) for _ in range(4)] == [draw.take(3) for _ in range(4)]


def test_without_a_seed_the_order_of_the_data_holds() -> None:
    assert DomainDraw(COLUMN, ["a", "b"], [1, 1], seed=None).take(4) == [0, 2, 1, 3]


def test_domains_and_data_must_fit() -> None:
    with pytest.raises(DataflexError, match=r"no row of domain 'c'.*'b' would never be drawn"):
        DomainDraw(COLUMN, ["a", "c"], [1, 1], seed=None)

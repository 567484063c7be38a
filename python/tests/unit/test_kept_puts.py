"""Copies of acknowledged puts have a bound, and only their own are dropped."""

from __future__ import annotations

from dataflex_mq.client.kept_puts import KeptPut, KeptPuts
from dataflex_mq.client.prepare import PreparedPut
from dataflex_mq.columns.tensor import Layout


def kept(put_id: str, size: int) -> KeptPut:
    header = {"stage": "post_advantage", "id": put_id, "hash": "00", "bytes": size}
    return KeptPut(PreparedPut(header, b"", [bytes(size)], [], b"", Layout(0, 0), []), None, 1)


def names(puts: KeptPuts, *steps: str) -> list[list[str]]:
    return [[one.put.header["id"] for one in puts.of(step)] for step in steps]


def test_settled_steps_go_first_then_the_oldest_and_never_the_one_at_hand() -> None:
    puts = KeptPuts(most=100)
    for step in ("1", "2", "3"):
        puts.keep(step, kept("a", 30))
    puts.settled("2", True)
    puts.keep("4", kept("a", 30))
    assert names(puts, "1", "2", "3", "4") == [["a"], [], ["a"], ["a"]]
    puts.keep("4", kept("b", 30))
    assert names(puts, "1", "3", "4") == [[], ["a"], ["a", "b"]]
    puts.keep("5", kept("a", 500))
    assert names(puts, "3", "4", "5") == [[], [], ["a"]]
    assert puts.dropped == 5


def test_a_put_made_again_takes_the_place_of_its_copy_and_counts_once() -> None:
    puts = KeptPuts(most=100)
    first, second = kept("a", 60), kept("a", 70)
    puts.keep("1", first)
    puts.keep("1", second)
    puts.keep("2", kept("a", 30))
    assert puts.dropped == 0
    # Of a copy that was replaced meanwhile nothing is there to drop.
    puts.drop("1", first)
    assert puts.of("1") == [second]
    puts.forget("1")
    assert puts.of("1") == []

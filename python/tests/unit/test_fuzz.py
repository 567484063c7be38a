"""Whatever enters the client is taken or refused by a typed error: `python tests/fuzz.py --inputs N` does the same with more."""

from __future__ import annotations

import random

from fuzz import READERS, run


def test_no_untyped_error_no_hang_no_memory() -> None:
    told = run(7_000, seed=1)
    assert told["refused"] > 1_000
    assert told["taken"] > 100


def test_the_examples_themselves_are_taken() -> None:
    import msgpack

    for what, example, read in READERS:
        if example and what != "failure":
            read(msgpack.packb(example, use_bin_type=True), _Still())


class _Still(random.Random):
    """Mutates nothing."""

    def choice(self, seq: list[int]) -> int:  # type: ignore[override]
        return seq[0]

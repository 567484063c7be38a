"""Shares as whole numbers of prompts."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import error


def allocate(shares: Sequence[float], count: int, carry: Sequence[float]) -> tuple[list[int], list[float]]:
    """
    The largest-remainder rule, as the service applies it (`src/scoring/mix/allocate.ts`): every domain gets the floor of its target, and
    the remainder goes one by one to the largest fractions, to the earlier domain where fractions are equal. `carry`, what each domain is
    still owed from earlier calls, is added to the targets.

    shares: finite, ≥ 0, with a sum above 0; divided by their sum. Answers counts that sum to `count`, and the carry for the next call.
    Example: [.5, .3, .2] of 7 → 4, 2, 1; thirds of 64 → 22, 21, 21. Raises INVALID_INPUT.
    """
    total = sum(shares)
    if not total > 0 or total == float("inf") or any(not share >= 0 for share in shares):
        raise error("INVALID_INPUT", f"shares {list(shares)} must be finite, ≥ 0 and not all 0")
    if len(carry) != len(shares):
        raise error("INVALID_INPUT", f"{len(carry)} carried fractions for {len(shares)} shares")
    # Rounding errors must not decide between equal fractions, nor turn 3 into 2.9999999.
    targets = [round(share / total * count + owed, 9) for share, owed in zip(shares, carry, strict=True)]
    counts = [max(0, int(target // 1)) for target in targets]

    def fraction(i: int) -> float:
        return round(targets[i] - counts[i], 9)

    for _ in range(count - sum(counts)):
        # `max` keeps the first of equals.
        counts[max(range(len(counts)), key=fraction)] += 1
    while sum(counts) > count:
        counts[min((i for i in range(len(counts)) if counts[i] > 0), key=fraction)] -= 1
    return counts, [target - given for target, given in zip(targets, counts, strict=True)]

"""Names near to a misspelt one, as the service finds them (`src/suggest.ts`)."""

from __future__ import annotations

from collections.abc import Iterable

MAX_LENGTH = 64


def nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """The nearest by edits (a swap of neighbours is one), at most max(2, length / 3) of them and fewer than the name is long."""
    if not 0 < len(name) <= MAX_LENGTH:
        return []
    limit = min(max(2, len(name) // 3), len(name) - 1)
    found: list[tuple[int, str]] = []
    for candidate in set(candidates):
        if len(candidate) > MAX_LENGTH or abs(len(candidate) - len(name)) > limit:
            continue
        distance = edit_distance(name.lower(), candidate.lower())
        if distance <= limit:
            found.append((distance, candidate))
    best = min((distance for distance, _ in found), default=0)
    return sorted(candidate for distance, candidate in found if distance == best)[:3]


def edit_distance(a: str, b: str) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`."""
    before: list[int] = []
    previous = list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            best = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (one != other))
            if i > 1 and j > 1 and one == b[j - 2] and a[i - 2] == other:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before, previous = previous, row
    return previous[len(b)]

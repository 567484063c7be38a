"""Draws prompts by domain: which rows of the data set come next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import error
from .allocate import allocate


class DomainDraw:
    """
    Each domain is gone through in an order of its own, shuffled anew (seeded by domain and epoch) whenever it is used up. Pure: rows are
    numbers, and `state()` with the same data set gives the same draws.
    """

    def __init__(
        self, domain_of: Sequence[str], domains: Sequence[str], shares: Sequence[float], seed: int | None
    ) -> None:
        """
        domain_of (rows,): each row's domain. domains: those that are mixed, in the order of `shares` (any scale). seed: None leaves the
        data set's order. Raises CONFIG for a domain without rows, and for rows of a domain that is not listed.
        """
        self.domains = list(domains)
        self.shares = [float(share) for share in shares]
        self._seed = seed
        column = np.asarray(domain_of, dtype=object)
        self._rows = [np.flatnonzero(column == name) for name in self.domains]
        empty = [name for name, rows in zip(self.domains, self._rows, strict=True) if len(rows) == 0]
        others = sorted({str(name) for name in column} - set(self.domains))
        if empty or others:
            problems = [f"the training data has no row of domain {name!r}" for name in empty]
            problems += [
                f"rows of domain {name!r} would never be drawn: list it in dataflex.domains" for name in others
            ]
            raise error("CONFIG", "; ".join(problems), {"problems": problems})
        self._carry = [0.0] * len(self.domains)
        self._epoch = [0] * len(self.domains)
        self._taken = [0] * len(self.domains)

    def set_shares(self, proportions: Mapping[str, float]) -> None:
        self.shares = [float(proportions[name]) for name in self.domains]

    def take(self, count: int) -> list[int]:
        """The next `count` row numbers, exactly by share: largest remainder, with what earlier draws left over."""
        counts, self._carry = allocate(self.shares, count, self._carry)
        return [self._next(domain) for domain, share in enumerate(counts) for _ in range(share)]

    def _next(self, domain: int) -> int:
        rows = self._rows[domain]
        if self._taken[domain] == len(rows):
            self._taken[domain] = 0
            self._epoch[domain] += 1
        place = self._taken[domain]
        self._taken[domain] += 1
        return int(rows[self._order(domain)[place]])

    def _order(self, domain: int) -> np.ndarray:
        size = len(self._rows[domain])
        if self._seed is None:
            return np.arange(size)
        return np.random.default_rng([self._seed, domain, self._epoch[domain]]).permutation(size)

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""
        return {
            "domains": self.domains,
            "shares": self.shares,
            "carry": self._carry,
            "epoch": self._epoch,
            "taken": self._taken,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Continues from a checkpoint; domains that it does not know start with the shares they were given."""
        known = {name: i for i, name in enumerate(state["domains"])}
        if sorted(known) == sorted(self.domains):
            self.shares = [float(state["shares"][known[name]]) for name in self.domains]
        for domain, name in enumerate(self.domains):
            if name in known:
                self._carry[domain] = float(state["carry"][known[name]])
                self._epoch[domain] = int(state["epoch"][known[name]])
                self._taken[domain] = min(int(state["taken"][known[name]]), len(self._rows[domain]))

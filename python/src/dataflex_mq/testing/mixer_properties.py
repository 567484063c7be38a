"""Properties that a mixer must have."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..components.series import Series
from .subject import Subject

_TOLERANCE = 1e-6


def mixer_failures(subject: Subject) -> Iterator[str]:
    """What a mixer violates, in words."""
    for label, series in _series():
        for name, test in _TESTS.items():
            try:
                wrong = test(subject, series)
            except Exception as thrown:
                yield f"{label}: raised {type(thrown).__name__}: {thrown}"
                break
            if wrong is not None:
                yield f"{name}, {label}: {wrong}"


def _simplex(subject: Subject, series: Series) -> str | None:
    shares = subject.propose(series)
    if shares.min() < 0:
        return f"domain {series.domains[int(shares.argmin())]} has a share below 0"
    if abs(shares.sum() - 1) > _TOLERANCE:
        return f"the shares sum to {shares.sum():.6g}: divide by their sum"
    return None


def _determinism(subject: Subject, series: Series) -> str | None:
    if _same(subject.propose(series), subject.propose(series)):
        return None
    return "two runs on the same series differ: draw random numbers from ctx.random"


def _hidden_state(subject: Subject, series: Series) -> str | None:
    instance = subject.make(series.domains)
    first = subject.propose(series, instance)
    subject.propose(_taken(series, range(len(series.domains))[::-1], scale=0.5), instance)
    return (
        None
        if _same(subject.propose(series, instance), first)
        else "what it proposed before changes its answer: keep nothing on self"
    )


def _order(subject: Subject, series: Series) -> str | None:
    by_domain = any(isinstance(value, list | dict) for value in subject.params.values())
    if by_domain or len(set(series.means.tolist())) < len(series.domains):
        return None
    order = [*range(1, len(series.domains)), 0]
    moved = subject.propose(_taken(series, order))
    return (
        None
        if _same(moved, subject.propose(series)[order])
        else "with the domains in another order the shares are others"
    )


_TESTS: dict[str, Callable[[Subject, Series], str | None]] = {
    "simplex": _simplex,
    "determinism": _determinism,
    "hidden_state": _hidden_state,
    "order": _order,
}


def _series() -> Iterator[tuple[str, Series]]:
    rng = np.random.default_rng(1)
    for label, means in (
        ("three domains", rng.random(3)),
        ("one domain", rng.random(1)),
        ("all values equal", np.full(3, 0.5)),
        ("all zero", np.zeros(3)),
        ("large values", np.array([1e6, -1e6, 1e3])),
    ):
        count = len(means)
        domains = [f"domain-{i}" for i in range(count)]
        slopes = np.zeros(count) if label.startswith("all") else rng.normal(size=count)
        yield label, Series(domains, means, slopes, np.full(count, 64.0), np.full(count, 1 / count))


def _taken(series: Series, order: range | list[int], scale: float = 1.0) -> Series:
    index = list(order)
    names = [series.domains[i] for i in index]
    return Series(names, series.means[index] * scale, series.slopes[index], series.counts[index], series.prior[index])


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    return bool(np.allclose(first, second, atol=_TOLERANCE))

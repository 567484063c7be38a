"""Batches that a component must cope with, as plain lists, so that properties can permute, cut and widen them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..columns.field_names import STRING_FIELDS
from ..components.declaration import Declaration

# One list of numbers a row, one number a row, or one string a row.
Field = list[np.ndarray] | np.ndarray | list[str]
# Makes a field of one's own from a generator and the response lengths.
Maker = Callable[[np.random.Generator, Sequence[int]], Any]


@dataclass(frozen=True)
class Sample:
    """`mask`: 0 or 1 for each response token of each row. `scores`: what an actuator gets, one number a row."""

    label: str
    fields: Mapping[str, Field]
    mask: list[np.ndarray]
    scores: np.ndarray
    # Values that tie: their order may settle what becomes of them.
    ties: bool = False
    # Fields that the author's own makers made: only these know which values are possible.
    own: frozenset[str] = frozenset()

    @property
    def rows(self) -> int:
        return len(self.mask)

    @property
    def lengths(self) -> list[int]:
        return [len(row) for row in self.mask]

    def take(self, rows: Sequence[int]) -> Sample:
        """Some rows, in the order given."""
        return replace(
            self,
            fields={name: _pick(values, rows) for name, values in self.fields.items()},
            mask=[self.mask[row] for row in rows],
            scores=self.scores[list(rows)],
        )

    def halved(self) -> Sample:
        """Another batch of the same shape: its rows the other way round, its numbers half as large where that makes sense."""
        other = self.take(list(range(self.rows))[::-1])
        fields = {name: values if name in self.own else _halved(values) for name, values in other.fields.items()}
        return replace(other, fields=fields, scores=other.scores / 2)


def _halved(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values / 2
    return [row / 2 if isinstance(row, np.ndarray) else row for row in values]


def _pick(values: Field, rows: Sequence[int]) -> Any:
    return values[list(rows)] if isinstance(values, np.ndarray) else [values[row] for row in rows]


@dataclass(frozen=True)
class _Plan:
    label: str
    lengths: tuple[int, ...]
    groups: int
    holes: bool = True
    constant: bool = False
    scale: float = 1.0


_PLANS = (
    _Plan("two groups of four", (4, 3, 2, 4, 1, 3, 4, 2), 2, holes=False),
    _Plan("three groups, masks with holes", (5, 6, 3, 4, 6, 5, 2, 6, 4), 3),
    _Plan("rows of one length", (4, 4, 4, 4), 2, holes=False),
    _Plan("one group", (3, 5, 4, 2, 5), 1),
    _Plan("a group for each row", (2, 4, 3), 3, holes=False),
    _Plan("one row", (3,), 1, holes=False),
    _Plan("all values equal", (3, 3, 3, 3, 3, 3), 2, holes=False, constant=True),
    _Plan("large values", (4, 3, 2, 4, 1, 3, 4, 2), 2, scale=1e4),
)


def samples_for(declaration: Declaration, makers: Mapping[str, Maker], seed: int) -> list[Sample]:
    """With the fields that the component requires. Values are continuous, so that rows differ and their order cannot matter by ties."""
    return [_sample(declaration, plan, makers, np.random.default_rng([seed, i])) for i, plan in enumerate(_PLANS)]


def names_of(declaration: Declaration) -> list[str]:
    """The fields that a component requires."""
    return [need["name"] if isinstance(need, dict) else need for need in declaration.requires]


def _sample(declaration: Declaration, plan: _Plan, makers: Mapping[str, Maker], rng: np.random.Generator) -> Sample:
    rows = len(plan.lengths)
    # The first token always counts, so that every row is live.
    mask = [(rng.random(length) > (0.4 if plan.holes else -1)).astype(np.int64) for length in plan.lengths]
    for row in mask:
        row[0] = 1
    fields: dict[str, Any] = {}
    for name, kind in _kinds(declaration).items():
        if name == "uid":
            fields[name] = [f"group-{i * plan.groups // rows}" for i in range(rows)]
        elif name in makers:
            fields[name] = makers[name](rng, plan.lengths)
        elif name != "response_mask":
            fields[name] = _scaled(_usual(name, kind)(rng, plan.lengths), plan)
    scores = np.full(rows, 0.5) if plan.constant else rng.random(rows) * plan.scale
    return Sample(plan.label, fields, mask, scores, ties=plan.constant, own=frozenset(makers))


def _scaled(values: Any, plan: _Plan) -> Any:
    if isinstance(values, np.ndarray):
        return np.full_like(values, 0.5) if plan.constant and values.dtype.kind == "f" else values
    if isinstance(values[0], str):
        return values
    rows = [np.asarray(row, dtype=np.float32) * np.float32(plan.scale) for row in values]
    return [np.full_like(row, 0.5) for row in rows] if plan.constant else rows


def _kinds(declaration: Declaration) -> dict[str, str | None]:
    needs = [need if isinstance(need, dict) else {"name": need} for need in declaration.requires]
    return {need["name"]: need.get("kind") for need in needs}


def _usual(name: str, kind: str | None) -> Maker:
    """Values as such fields have them; names that say nothing get numbers around 0, one a token unless `kind` says otherwise."""
    if kind == "features":
        return lambda rng, lengths: rng.normal(size=(len(lengths), 6)).astype(np.float32)
    if kind in ("row", "numbers"):
        return lambda rng, lengths: rng.random(len(lengths)).astype(np.float32)
    if name in STRING_FIELDS or kind == "strings":
        return lambda rng, lengths: [f"{name}-{i % 2 if name == 'domain' else i}" for i in range(len(lengths))]
    if name in ("difficulty", "session_index"):
        return lambda rng, lengths: rng.random(len(lengths)).astype(np.float32)
    if "reward" in name or "scores" in name:
        return lambda rng, lengths: [np.r_[np.zeros(n - 1), rng.random()] for n in lengths]
    if "log_prob" in name:
        return lambda rng, lengths: [-3 * rng.random(n) for n in lengths]
    if name in ("advantages", "returns"):
        return lambda rng, lengths: [np.full(n, 2 * rng.random() - 1) for n in lengths]
    return lambda rng, lengths: [2 * rng.random(n) - 1 for n in lengths]

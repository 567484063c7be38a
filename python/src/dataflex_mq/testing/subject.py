"""The component under test, and running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..components.arrays import Arrays, NumpyArrays, TorchArrays
from ..components.context import Context
from ..components.declaration import Declaration
from ..components.series import Series
from ..components.step_columns import StepColumns
from ..host.invoke import Answer, Given, invoke
from .sample_columns import columns_of, token_matrix
from .samples import Sample

# What a component makes of a batch: a score or weight a row, or those of its unmasked tokens; a mixer's shares.
Observed = list[np.ndarray]


class _NumpyCopies(NumpyArrays):
    """Hands out each array anew."""

    def give(self, values: np.ndarray, stored: str | None = None) -> np.ndarray:
        return super().give(values.copy(), stored)


class _TorchCopies(TorchArrays):
    """Hands out each tensor anew."""

    def give(self, values: np.ndarray, stored: str | None = None) -> Any:
        return super().give(values.copy(), stored)


@dataclass(frozen=True)
class Subject:
    """
    `device`: where its batch lies. `fresh`: whatever it reads is a copy of its own. `read`: the fields that it has read, `dtypes`
    those of what it has returned, both filled as it runs.
    """

    declaration: Declaration
    params: Mapping[str, Any]
    device: str = "cpu"
    fresh: bool = False
    read: set[str] = field(default_factory=set)
    dtypes: set[str] = field(default_factory=set)

    @property
    def is_token(self) -> bool:
        kind = self.declaration.granularity if self.declaration.kind == "scorer" else self.declaration.accepts
        return kind == "token"

    def on(self, device: str) -> Subject:
        return replace(self, device=device)

    def reading_copies(self) -> Subject:
        return replace(self, fresh=True)

    def make(self, domains: list[str] | None = None) -> Any:
        """A new instance, as for one pipeline of a run. Raises what the constructor or `setup` raises."""
        original = self.declaration.form == "original"
        runtime: dict[str, Any] = {}
        if original and self.declaration.kind != "scorer":
            runtime["scorer"] = SimpleNamespace(
                name="other",
                params={},
                requires=[],
                timing="post_advantage",
                granularity="response",
                needs_groups=False,
            )
            if domains is not None:
                runtime["domains"] = domains
        instance = self.declaration.make({**self.params, **runtime})
        setup = getattr(instance, "setup", None)
        if not original and callable(setup):
            setup(self.device)
        return instance

    def observe(self, sample: Sample, instance: Any = None, wider: int = 0) -> Observed:
        """Runs it on a sample, with a new instance unless one is given. Raises what it raises, AnswerError."""
        needs = [need for need in self.declaration.requires if isinstance(need, dict)]
        scopes = {need["name"]: need["scope"] for need in needs if "scope" in need}
        columns = _Watched.over(columns_of(sample, scopes, wider), self.read)
        answer = self.answer(sample, columns, instance)
        values = answer.values
        assert values is not None
        self.dtypes.add(answer.dtype)
        if answer.form == "tokens":
            return np.split(values, np.cumsum([int(row.sum()) for row in sample.mask])[:-1])
        if answer.form == "kept":
            return list(np.isin(np.arange(sample.rows), values).astype(np.float64))
        return list(values)

    def answer(self, sample: Sample, columns: StepColumns, instance: Any = None) -> Answer:
        arrays = self._arrays()
        instance = self.make() if instance is None else instance
        shape = "token" if self.is_token else "row"
        if self.declaration.kind == "scorer":
            return invoke(self.declaration, instance, "score", shape, Given(arrays, columns), self._context(arrays))
        scores = sample.scores
        if shape == "token":
            matrix = token_matrix(
                [row * score for row, score in zip(sample.mask, scores, strict=True)], columns.longest
            )
            scores = matrix * columns.mask_matrix(np.float64)
        given = Given(arrays, columns, scores.copy())
        answer = invoke(self.declaration, instance, "act", shape, given, self._context(arrays))
        if self.declaration.remembers:
            invoke(self.declaration, instance, "remember", shape, given, self._context(arrays))
        return answer

    def propose(self, series: Series, instance: Any = None) -> np.ndarray:
        """A mixer's shares. Raises what it raises, AnswerError, NonFinite."""
        arrays = self._arrays()
        instance = self.make(series.domains) if instance is None else instance
        given = Given(arrays, series=series)
        values = invoke(self.declaration, instance, "propose", "row", given, self._context(arrays)).values
        assert values is not None
        return values

    def _arrays(self) -> Arrays:
        if self.declaration.form == "own" and self.declaration.arrays == "numpy":
            return _NumpyCopies() if self.fresh else NumpyArrays()
        return (_TorchCopies if self.fresh else TorchArrays)(self.device)

    def _context(self, arrays: Arrays) -> Context:
        return Context(run="check", step=1, trigger=0, device=arrays.device, seed="check")


class _Watched(StepColumns):
    """Notes which fields are read."""

    read: set[str]

    @classmethod
    def over(cls, columns: StepColumns, read: set[str]) -> _Watched:
        watched = cls(columns.layout, columns.fields, columns.stored, columns.counted)
        object.__setattr__(watched, "read", read)
        return watched

    def field(self, name: str) -> Any:
        self.read.add(name)
        return super().field(name)

"""Calling a component of either form, and its answer as arrays."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..components.arrays import Arrays, TorchArrays
from ..components.batch import Batch
from ..components.context import Context
from ..components.declaration import Declaration
from ..components.series import Series
from ..components.step_columns import StepColumns, check_finite
from .answers import kept_rows, remembered, row_values, shares, token_values
from .original.data_proto import original_batch


@dataclass(frozen=True)
class Given:
    """What a component is called with: a batch, and the scores where it is no scorer; a mixer's series alone."""

    arrays: Arrays
    columns: StepColumns | None = None
    # (rows,), or (rows, longest) with 0 outside the mask.
    scores: np.ndarray | None = None
    series: Series | None = None


@dataclass
class Answer:
    """`form`: rows, tokens, kept, shares (all in `values`) or remembered (in `facts`)."""

    form: str
    values: np.ndarray | None = None
    facts: list[Any] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)
    # Of what the component returned, where it was an array.
    dtype: str = ""


def invoke(declaration: Declaration, instance: Any, role: str, shape: str, given: Given, context: Context) -> Answer:
    """
    `role`: score, act, remember, propose. `shape`: row or token, of the scores. Raises what the component raises, AnswerError,
    NonFinite.
    """
    if declaration.form == "original":
        with _without_grad():
            returned = _original(instance, role, given, context.step)
    else:
        returned = _own(instance, role, given, context)
    answer = _read(declaration, role, shape, returned, given)
    answer.warnings, answer.metrics = context.warnings, context.metrics
    answer.dtype = str(getattr(returned, "dtype", ""))
    return answer


def _own(instance: Any, role: str, given: Given, context: Context) -> Any:
    method = getattr(instance, role)
    if given.columns is None:
        return method(given.series, context)
    scores = [] if given.scores is None else [given.arrays.give(given.scores)]
    return method(*scores, Batch(given.columns, given.arrays), context)


def _original(instance: Any, role: str, given: Given, step: int) -> Any:
    if given.columns is None:
        assert given.series is not None
        means = _by_domain(given.series, given.series.means)
        counts = {"counts": _by_domain(given.series, given.series.counts)}
        named = counts if "counts" in inspect.signature(instance.act).parameters else {}
        return instance.act(means, None, **named)
    assert isinstance(given.arrays, TorchArrays)
    batch = original_batch(given.columns, given.arrays, [*given.columns.fields, "response_mask"])
    if role == "score":
        return instance.score(batch, step)
    assert given.scores is not None
    return instance.act(given.arrays.give(given.scores.astype(np.float32)), batch)


def _read(declaration: Declaration, role: str, shape: str, returned: Any, given: Given) -> Answer:
    if role == "remember":
        return Answer("remembered", facts=remembered(returned))
    if given.columns is None:
        assert given.series is not None
        values = shares(returned, given.series.domains)
        check_finite(f"share of '{declaration.name}'", values)
        return Answer("shares", values)
    if shape == "token":
        return Answer("tokens", token_values(returned, given.columns))
    if declaration.kind == "selector":
        return Answer("kept", kept_rows(returned, given.columns, original=declaration.form == "original"))
    return Answer("rows", row_values(returned, given.columns))


def _by_domain(series: Series, values: np.ndarray) -> Mapping[str, float]:
    return dict(zip(series.domains, values.tolist(), strict=True))


def _without_grad() -> contextlib.AbstractContextManager[Any]:
    import torch

    return torch.no_grad()

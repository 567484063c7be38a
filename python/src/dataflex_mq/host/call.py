"""One call of a component: what it is called with, and its answer as arrays."""

from __future__ import annotations

import contextlib
import inspect
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..components.arrays import Arrays, NumpyArrays, TorchArrays
from ..components.batch import Batch
from ..components.context import Context, StateStep
from ..components.series import Series
from ..components.step_columns import StepColumns, check_finite
from .answers import kept_rows, remembered, row_values, shares, token_values
from .instances import Instances, Use
from .original.data_proto import original_batch
from .received import Bodies, read_columns


@dataclass
class Answer:
    """`form`: rows, tokens, kept, shares (all in `values`) or remembered (in `facts`)."""

    form: str
    values: np.ndarray | None = None
    facts: list[Any] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)


class Caller:
    """Runs calls, one after another."""

    def __init__(self, instances: Instances, device: str) -> None:
        self._instances = instances
        self._device = device
        self._torch: TorchArrays | None = None

    def run(self, call: dict[str, Any], bodies: list[np.ndarray]) -> Answer:
        """Raises what the component raises, AnswerError, NonFinite."""
        loaded = self._instances.loaded(call["kind"], call["name"])
        use = Use(loaded, call["params"], call["run"], call["pipeline"])
        original = loaded.declaration.form == "original"
        runtime: dict[str, Any] = {}
        if original and call["kind"] != "scorer":
            runtime["scorer"] = self._instances.scorer_of(call)
            if call["kind"] == "mixer":
                runtime["domains"] = call["series"]["domains"]
        instance = self._instances.get(use, runtime)
        if original:
            with self._without_grad():
                return self._original(call, instance, Bodies(bodies))
        return self._own(call, instance, Bodies(bodies), loaded.declaration.arrays)

    def _own(self, call: dict[str, Any], instance: Any, bodies: Bodies, kind: str) -> Answer:
        arrays: Arrays = NumpyArrays() if kind == "numpy" else self._tensors()
        context = Context(
            run=call["run"],
            step=call["step"],
            trigger=call["trigger"],
            device=arrays.device,
            seed=call["seed"],
            state=[_state_step(step) for step in call.get("history", [])],
        )
        method = getattr(instance, call["role"])
        if call["role"] == "propose":
            answer = _proposed(method(_series(call["series"]), context), call)
        else:
            columns = read_columns(call, bodies)
            batch = Batch(columns, arrays)
            scores = [] if call["role"] == "score" else [arrays.give(_scores(call, columns, bodies))]
            answer = _read(call, method(*scores, batch, context), columns, original=False)
        answer.warnings, answer.metrics = context.warnings, context.metrics
        return answer

    def _original(self, call: dict[str, Any], instance: Any, bodies: Bodies) -> Answer:
        if call["role"] == "propose":
            series = call["series"]
            means = dict(zip(series["domains"], series["means"], strict=True))
            counts = dict(zip(series["domains"], series["counts"], strict=True))
            named = {"counts": counts} if "counts" in inspect.signature(instance.act).parameters else {}
            return _proposed(instance.act(means, None, **named), call)
        columns = read_columns(call, bodies)
        arrays = self._tensors()
        batch = original_batch(columns, arrays, [*columns.fields, "response_mask"])
        if call["role"] == "score":
            return _read(call, instance.score(batch, call["step"]), columns, original=True)
        scores = arrays.give(_scores(call, columns, bodies).astype(np.float32))
        return _read(call, instance.act(scores, batch), columns, original=True)

    def _tensors(self) -> TorchArrays:
        self._torch = self._torch or TorchArrays(self._device)
        return self._torch

    def _without_grad(self) -> contextlib.AbstractContextManager[Any]:
        import torch

        return torch.no_grad()


def _read(call: dict[str, Any], returned: Any, columns: StepColumns, *, original: bool) -> Answer:
    if call["role"] == "remember":
        return Answer("remembered", facts=remembered(returned))
    if call["shape"] == "token":
        return Answer("tokens", token_values(returned, columns))
    if call["kind"] == "selector":
        return Answer("kept", kept_rows(returned, columns, original=original))
    return Answer("rows", row_values(returned, columns))


def _proposed(returned: Any, call: dict[str, Any]) -> Answer:
    values = shares(returned, call["series"]["domains"])
    check_finite(f"share of '{call['name']}'", values)
    return Answer("shares", values)


def _scores(call: dict[str, Any], columns: StepColumns, bodies: Bodies) -> np.ndarray:
    """(rows,), or (rows, longest) with 0 outside the mask."""
    values = bodies.array(call["scores"])
    if call["shape"] == "row":
        return values
    matrix = np.zeros((columns.rows, columns.longest))
    matrix[columns.mask.inside(0, columns.rows)[:, : columns.longest]] = values
    return matrix


def _series(found: dict[str, Any]) -> Series:
    def array(name: str) -> np.ndarray:
        return np.array(found[name], dtype=np.float64)

    return Series(found["domains"], array("means"), array("slopes"), array("counts"), array("prior"))


def _state_step(step: dict[str, Any]) -> StateStep:
    values = {name: tuple(float(number) for number in numbers) for name, *numbers in step["values"]}
    return StateStep(step["step"], step["trigger"], values)

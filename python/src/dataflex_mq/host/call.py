"""One call from the worker: what it brings, as a component is called with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..components.arrays import NumpyArrays, TorchArrays
from ..components.context import Context, StateStep
from ..components.series import Series
from ..components.step_columns import StepColumns
from .instances import Instances, Use
from .invoke import Answer, Given, invoke
from .received import Bodies, read_columns


class Caller:
    """Runs calls, one after another."""

    def __init__(self, instances: Instances, device: str) -> None:
        self._instances = instances
        self._device = device
        self._torch: TorchArrays | None = None

    def run(self, call: dict[str, Any], bodies: list[np.ndarray]) -> Answer:
        """Raises what the component raises, AnswerError, NonFinite."""
        loaded = self._instances.loaded(call["kind"], call["name"])
        declaration = loaded.declaration
        use = Use(loaded, call["params"], call["run"], call["pipeline"])
        runtime: dict[str, Any] = {}
        if declaration.form == "original" and call["kind"] != "scorer":
            runtime["scorer"] = self._instances.scorer_of(call)
            if call["kind"] == "mixer":
                runtime["domains"] = call["series"]["domains"]
        instance = self._instances.get(use, runtime)
        given = self._given(call, Bodies(bodies), declaration.arrays if declaration.form == "own" else "torch")
        context = Context(
            run=call["run"],
            step=call["step"],
            trigger=call["trigger"],
            device=given.arrays.device,
            seed=call["seed"],
            state=[_state_step(step) for step in call.get("history", [])],
        )
        return invoke(declaration, instance, call["role"], call.get("shape", "row"), given, context)

    def _given(self, call: dict[str, Any], bodies: Bodies, kind: str) -> Given:
        arrays = NumpyArrays() if kind == "numpy" else self._tensors()
        if call["role"] == "propose":
            return Given(arrays, series=_series(call["series"]))
        columns = read_columns(call, bodies)
        scores = None if call["role"] == "score" else _scores(call, columns, bodies)
        return Given(arrays, columns, scores)

    def _tensors(self) -> TorchArrays:
        self._torch = self._torch or TorchArrays(self._device)
        return self._torch


def _scores(call: dict[str, Any], columns: StepColumns, bodies: Bodies) -> np.ndarray:
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

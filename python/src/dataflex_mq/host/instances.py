"""One instance of a component for each pipeline of a run, so that a model is loaded once."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from .load import Loaded

# Runs come and go while a worker stays: the pipelines that were scored last keep their instances.
KEPT = 32


@dataclass(frozen=True)
class Use:
    """A component as one pipeline of a run uses it."""

    loaded: Loaded
    params: dict[str, Any]
    run: str
    pipeline: str

    @property
    def key(self) -> tuple[str, ...]:
        return self.run, self.pipeline, *self.loaded.key, json.dumps(self.params, sort_keys=True)


class Instances:
    """Makes instances when they are first needed. `setup(device)` of one that has it runs once, right after."""

    def __init__(self, components: list[Loaded], device: str) -> None:
        self._components = {component.key: component for component in components}
        self._device = device
        self._made: OrderedDict[tuple[str, ...], Any] = OrderedDict()

    def loaded(self, kind: str, name: str) -> Loaded:
        return self._components[(kind, name)]

    def get(self, use: Use, runtime: dict[str, Any]) -> Any:
        """`runtime`: what the framework fills in for a class of the original form. Raises what the constructor or `setup` raises."""
        if use.key in self._made:
            self._made.move_to_end(use.key)
            return self._made[use.key]
        declaration = use.loaded.declaration
        instance = declaration.make({**use.params, **(runtime if declaration.form == "original" else {})})
        setup = getattr(instance, "setup", None)
        if declaration.form == "own" and callable(setup):
            setup(self._device)
        self._made[use.key] = instance
        while len(self._made) > KEPT:
            self._made.popitem(last=False)
        return instance

    def scorer_of(self, call: dict[str, Any]) -> Any:
        """The scorer that an actuator of the original form holds: its instance, or a stub with the attributes of one that is not ours."""
        scorer = call.get("scorer")
        if scorer is None:
            return None
        key = ("scorer", scorer["name"])
        if key not in self._components:
            return SimpleNamespace(**scorer)
        return self.get(Use(self._components[key], scorer["params"], call["run"], call["pipeline"]), {})

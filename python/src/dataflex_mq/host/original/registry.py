"""The registry that classes written for DataFlex-RL register with; what they register is declared to the worker."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ...components.declaration import DECLARED, STAGES, Declaration, summary_of
from ...components.params import constructor_params, read_params

Class = TypeVar("Class", bound=type)

# What the framework fills in; no configuration may set it.
_RUNTIME = frozenset({"scorer", "domains"})
_METHODS = {"scorer": "score", "selector": "act", "reweighter": "act", "mixer": "act"}
# Fields that exist from post_advantage on: a scorer of post_reward that reads them was run later than it says.
_LATE = {
    "old_log_probs",
    "entropy",
    "entropys",
    "ref_log_prob",
    "values",
    "token_level_rewards",
    "advantages",
    "returns",
    "rollout_is_weights",
}


class Registry:
    """Names of classes, by kind."""

    def __init__(self) -> None:
        self._classes: dict[str, dict[str, type]] = {}

    def register(self, kind: str, name: str) -> Callable[[Class], Class]:
        """A decorator. Raises ValueError for a name that is taken, TypeError for a class without the method of its kind."""

        def decorate(cls: Class) -> Class:
            own = self._classes.setdefault(kind, {})
            DECLARED.add(_declare(kind, name, cls), cls)
            own[name] = cls
            return cls

        return decorate

    def get(self, kind: str, name: str) -> type:
        try:
            return self._classes[kind][name]
        except KeyError:
            known = ", ".join(self.list(kind)) or "none"
            raise KeyError(f"no {kind} is called '{name}'; there are {known}") from None

    def list(self, kind: str) -> list[str]:
        return sorted(self._classes.get(kind, {}))


REGISTRY = Registry()


def register_scorer(name: str) -> Callable[[Class], Class]:
    return REGISTRY.register("scorer", name)


def register_selector(name: str) -> Callable[[Class], Class]:
    return REGISTRY.register("selector", name)


def register_reweighter(name: str) -> Callable[[Class], Class]:
    return REGISTRY.register("reweighter", name)


def register_mixer(name: str) -> Callable[[Class], Class]:
    return REGISTRY.register("mixer", name)


def _declare(kind: str, name: str, cls: type) -> Declaration:
    method = getattr(cls, _METHODS[kind], None)
    if not callable(method) or getattr(method, "__isabstractmethod__", False):
        raise TypeError(f"{kind} '{name}': class {cls.__name__} has no method {_METHODS[kind]}")
    params = constructor_params(cls, _RUNTIME)
    requires = [str(field) for field in getattr(cls, "requires", [])] if kind == "scorer" else []
    granularity = str(getattr(cls, "granularity", "prompt")) if kind == "scorer" else None

    def make(given: dict[str, Any]) -> Any:
        accepted = inspect.signature(cls).parameters
        takes_all = any(parameter.kind == parameter.VAR_KEYWORD for parameter in accepted.values())
        runtime = {key: given[key] for key in _RUNTIME & given.keys()}
        values = {**read_params(params, {key: value for key, value in given.items() if key not in _RUNTIME}), **runtime}
        return cls(**(values if takes_all else {key: value for key, value in values.items() if key in accepted}))

    return Declaration(
        kind=kind,
        name=name,
        form="original",
        params=params,
        make=make,
        requires=_needs(kind, requires),
        timing=_stage(str(getattr(cls, "timing", "post_reward")), requires) if kind == "scorer" else None,
        granularity=granularity,
        needs_groups=kind == "scorer" and bool(getattr(cls, "needs_groups", False)),
        scorer="required" if kind == "mixer" else None,
        self_normalized=kind == "reweighter",
        summary=summary_of(cls),
    )


def _needs(kind: str, requires: list[str]) -> list[str | dict[str, str]]:
    """Scorers always find the mask. Selectors find `uid`, which they cannot ask for: several choose within groups."""
    if kind == "selector":
        return ["uid"]
    return [*requires] if kind != "scorer" or "response_mask" in requires else [*requires, "response_mask"]


def _stage(timing: str, requires: list[str]) -> str:
    """The later of the declared stage and that of the fields."""
    if timing in STAGES and any(field in _LATE for field in requires):
        return "post_advantage"
    return timing if timing not in STAGES or timing != "pre_rollout" else "post_reward"

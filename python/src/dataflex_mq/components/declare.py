"""From a decorated function or class to its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from .declaration import DECLARED, STAGES, Declaration, summary_of
from .params import constructor_params, keyword_params, read_params

_FACTS = frozenset(field.name for field in fields(Declaration))


class FunctionComponent:
    """A component made from a function: `method` of the instance calls it with its parameters."""

    def __init__(self, function: Callable[..., Any], method: str, params: dict[str, Any]) -> None:
        def call(*args: Any) -> Any:
            return function(*args, **params)

        setattr(self, method, call)


def declare(kind: str, method: str, name: str | None, thing: Any, facts: Mapping[str, Any]) -> None:
    """
    Declares a component. `facts` are those of a `Declaration`, as the decorator was given them. Raises TypeError for an unknown one and
    for a class without the method of its kind, ValueError for what contradicts itself and for a name that is taken.
    """
    named = name or _snake(thing.__name__)
    who = f"{kind} '{named}'"
    unknown = sorted(set(facts) - _FACTS)
    if unknown:
        raise TypeError(
            f"{who}: the decorator has no option {unknown[0]!r}; it has {', '.join(sorted(set(facts) & _FACTS))}"
        )
    timing = facts.get("timing")
    if timing is not None and timing not in STAGES:
        raise ValueError(f"{who}: timing is {timing!r}, one of {', '.join(STAGES)} is wanted")
    if facts.get("in_log_space") and facts.get("accepts") == "token":
        raise ValueError(
            f"{who}: in_log_space is for weights of rows; a reweighter of tokens returns the weights themselves"
        )
    is_class = inspect.isclass(thing)
    if is_class and not callable(getattr(thing, method, None)):
        raise TypeError(f"{who}: class {thing.__name__} has no method {method}")
    params = constructor_params(thing) if is_class else keyword_params(thing)

    def make(given: dict[str, Any]) -> Any:
        values = read_params(params, given)
        return thing(**values) if is_class else FunctionComponent(thing, method, values)

    DECLARED.add(
        Declaration(
            **{**facts, "requires": _needs(facts)},
            kind=kind,
            name=named,
            form="own",
            params=params,
            make=make,
            remembers=kind == "selector" and is_class and callable(getattr(thing, "remember", None)),
            summary=summary_of(thing),
        ),
        thing,
    )


def _needs(facts: Mapping[str, Any]) -> list[str | dict[str, str]]:
    """The fields it reads; groups are made of `uid`."""
    needs: list[str | dict[str, str]] = [
        dict(need) if isinstance(need, Mapping) else need for need in facts.get("requires", ())
    ]
    names = [need["name"] if isinstance(need, dict) else need for need in needs]
    return [*needs, "uid"] if facts.get("needs_groups") and "uid" not in names else needs


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() and i > 0 else char.lower() for i, char in enumerate(name))

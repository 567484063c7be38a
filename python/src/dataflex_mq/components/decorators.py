"""Decorators that make a function or a class a component."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from .declaration import DECLARED, STAGES, Declaration, summary_of
from .params import constructor_params, keyword_params, read_params

Thing = TypeVar("Thing", bound=Callable[..., Any])
Stage = Literal["post_reward", "post_advantage"]
Shape = Literal["row", "token"]
Rows = Literal["independent", "group", "batch"]
Arrays = Literal["torch", "numpy"]
Need = str | Mapping[str, str]


def scorer(
    name: str | None = None,
    *,
    requires: Sequence[Need],
    timing: Stage = "post_advantage",
    granularity: Shape = "row",
    needs_groups: bool = False,
    rows: Rows = "batch",
    arrays: Arrays = "torch",
) -> Callable[[Thing], Thing]:
    """
    Makes a scorer of a function `(batch, ctx, *, parameters)` or of a class with `score(batch, ctx)`: one number a row, `(n,)`, or, with
    `granularity="token"`, one a token, `(n, L)` or `(tokens,)`.

    `requires` names the fields it reads; `{"name": …, "scope": "response"}` asks for tokens outside the mask too. Parameters are
    the function's keyword-only ones, or the constructor's. `arrays` says what the batch hands out: torch tensors on `ctx.device`,
    or NumPy arrays.
    """
    return _decorator(
        "scorer",
        name,
        "score",
        requires=requires,
        timing=timing,
        granularity="token" if granularity == "token" else "response",
        needs_groups=needs_groups,
        rows=rows,
        arrays=arrays,
    )


def reweighter(
    name: str | None = None,
    *,
    accepts: Shape = "row",
    requires: Sequence[Need] = (),
    timing: Stage | None = None,
    needs_groups: bool = False,
    arrays: Arrays = "torch",
) -> Callable[[Thing], Thing]:
    """
    Makes a reweighter of a function `(scores, batch, ctx, *, parameters)` or of a class with `act(scores, batch, ctx)`: weights >= 0 of
    the shape of the scores. The framework normalises them, as the pipeline's `normalize` says.
    """
    return _decorator(
        "reweighter",
        name,
        "act",
        requires=requires,
        timing=timing,
        accepts=accepts,
        needs_groups=needs_groups,
        arrays=arrays,
    )


def selector(
    name: str | None = None,
    *,
    accepts: Shape = "row",
    requires: Sequence[Need] = (),
    timing: Stage | None = None,
    needs_groups: bool = False,
    arrays: Arrays = "torch",
) -> Callable[[Thing], Thing]:
    """
    Makes a selector of a function `(scores, batch, ctx, *, parameters)` or of a class with `act(scores, batch, ctx)`: the rows to keep, as
    indices or as one boolean a row; with `accepts="token"` 0 or 1 a token. A class with `remember(scores, batch, ctx)`, which
    returns names with numbers, finds what earlier steps remembered in `ctx.state`.
    """
    return _decorator(
        "selector",
        name,
        "act",
        requires=requires,
        timing=timing,
        accepts=accepts,
        needs_groups=needs_groups,
        arrays=arrays,
    )


def mixer(
    name: str | None = None, *, scorer: Literal["required", "none"] = "required", arrays: Arrays = "numpy"
) -> Callable[[Thing], Thing]:
    """
    Makes a mixer of a function `(series, ctx, *, parameters)` or of a class with `propose(series, ctx)`: one share >= 0 for each of
    `series.domains`, with sum 1.
    """
    return _decorator("mixer", name, "propose", scorer=scorer, arrays=arrays)


class FunctionComponent:
    """A component made from a function: `method` of the instance calls it with its parameters."""

    def __init__(self, function: Callable[..., Any], method: str, params: dict[str, Any]) -> None:
        def call(*args: Any) -> Any:
            return function(*args, **params)

        setattr(self, method, call)


def _decorator(kind: str, name: str | None, method: str, **facts: Any) -> Callable[[Thing], Thing]:
    def decorate(thing: Thing) -> Thing:
        DECLARED.add(_declare(kind, name or _snake(thing.__name__), method, thing, facts))
        return thing

    return decorate


def _declare(kind: str, name: str, method: str, thing: Any, facts: dict[str, Any]) -> Declaration:
    timing = facts.get("timing")
    if timing is not None and timing not in STAGES:
        raise ValueError(f"{kind} '{name}': timing is {timing!r}, one of {', '.join(STAGES)} is wanted")
    needs = [dict(need) if isinstance(need, Mapping) else need for need in facts.pop("requires", ())]
    if facts.get("needs_groups") and not any(
        "uid" in (need, need.get("name") if isinstance(need, dict) else "") for need in needs
    ):
        needs.append("uid")
    is_class = inspect.isclass(thing)
    if is_class and not callable(getattr(thing, method, None)):
        raise TypeError(f"{kind} '{name}': class {thing.__name__} has no method {method}")
    params = constructor_params(thing) if is_class else keyword_params(thing)

    def make(given: dict[str, Any]) -> Any:
        values = read_params(params, given)
        return thing(**values) if is_class else FunctionComponent(thing, method, values)

    return Declaration(
        kind=kind,
        name=name,
        form="own",
        params=params,
        make=make,
        requires=needs,
        remembers=kind == "selector" and is_class and callable(getattr(thing, "remember", None)),
        summary=summary_of(thing),
        **facts,
    )


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() and i > 0 else char.lower() for i, char in enumerate(name))

"""Decorators that make a function or a class a component."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from .declare import declare

if TYPE_CHECKING:
    from typing_extensions import Unpack

Thing = TypeVar("Thing", bound=Callable[..., Any])
Decorator = Callable[[Thing], Thing]
Shape = Literal["row", "token"]
Rows = Literal["independent", "group", "batch"]
Need = str | Mapping[str, str]


class Options(TypedDict, total=False):
    """
    What each decorator of a component that reads a batch takes. `timing`: the stage that it needs, scorers default to `post_advantage`.
    `needs_groups`: incomplete groups matter to it. `arrays`: what the batch hands out, torch tensors on `ctx.device` (the default) or
    NumPy arrays.
    """

    timing: Literal["post_reward", "post_advantage"]
    needs_groups: bool
    arrays: Literal["torch", "numpy"]


def scorer(
    name: str | None = None,
    *,
    requires: Sequence[Need],
    granularity: Shape = "row",
    rows: Rows = "batch",
    **options: Unpack[Options],
) -> Decorator[Thing]:
    """
    Makes a scorer of a function `(batch, ctx, *, parameters)` or of a class with `score(batch, ctx)`: one number a row, `(n,)`, or, with
    `granularity="token"`, one a token, `(n, L)` or `(tokens,)`.

    `requires` names the fields it reads; `{"name": …, "scope": "response"}` asks for tokens outside the mask too, `{"name": …, "kind": …}`
    for a field of another kind than its name says: `row`, `strings`, `features`, or `numbers` (one a row or one a token). Parameters are
    the function's keyword-only ones, or the constructor's. `rows` says what it must see together.
    """
    shape = "token" if granularity == "token" else "response"
    facts = {"requires": requires, "granularity": shape, "rows": rows, "timing": "post_advantage", **options}
    return _decorator("scorer", "score", name, facts)


def reweighter(
    name: str | None = None,
    *,
    accepts: Shape = "row",
    requires: Sequence[Need] = (),
    in_log_space: bool = False,
    **options: Unpack[Options],
) -> Decorator[Thing]:
    """
    Makes a reweighter of a function `(scores, batch, ctx, *, parameters)` or of a class with `act(scores, batch, ctx)`: weights >= 0 of
    the shape of the scores. The framework normalises them, as the pipeline's `normalize` says.

    `in_log_space`: it returns the logarithms of its weights, which neither overflow nor all become 0; one a row.
    """
    facts = {"accepts": accepts, "requires": requires, "in_log_space": in_log_space, **options}
    return _decorator("reweighter", "act", name, facts)


def selector(
    name: str | None = None, *, accepts: Shape = "row", requires: Sequence[Need] = (), **options: Unpack[Options]
) -> Decorator[Thing]:
    """
    Makes a selector of a function `(scores, batch, ctx, *, parameters)` or of a class with `act(scores, batch, ctx)`: the rows to keep, as
    indices or as one boolean a row; with `accepts="token"` 0 or 1 a token. A class with `remember(scores, batch, ctx)`, which
    returns names with numbers, finds what earlier steps remembered in `ctx.state`.
    """
    return _decorator("selector", "act", name, {"accepts": accepts, "requires": requires, **options})


def mixer(
    name: str | None = None,
    *,
    scorer: Literal["required", "none"] = "required",
    arrays: Literal["torch", "numpy"] = "numpy",
) -> Decorator[Thing]:
    """
    Makes a mixer of a function `(series, ctx, *, parameters)` or of a class with `propose(series, ctx)`: one share >= 0 for each of
    `series.domains`, with sum 1.
    """
    return _decorator("mixer", "propose", name, {"scorer": scorer, "arrays": arrays})


def _decorator(kind: str, method: str, name: str | None, facts: dict[str, Any]) -> Decorator[Thing]:
    def decorate(thing: Thing) -> Thing:
        declare(kind, method, name, thing, facts)
        return thing

    return decorate

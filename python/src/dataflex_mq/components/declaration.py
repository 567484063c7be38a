"""What a file of components declares, as it crosses to the service."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .params import Param

STAGES = ("pre_rollout", "post_reward", "post_advantage")


@dataclass(frozen=True)
class Declaration:
    """
    A component of a Python file. `form` is `own` (this package's decorators) or `original` (classes written for DataFlex-RL);
    `make(params)` builds an instance.
    """

    kind: str
    name: str
    form: str
    params: list[Param]
    make: Callable[[dict[str, Any]], Any]
    requires: list[str | dict[str, str]] = field(default_factory=list)
    timing: str | None = None
    granularity: str | None = None
    accepts: str | None = None
    needs_groups: bool = False
    rows: str = "batch"
    scorer: str | None = None
    remembers: bool = False
    self_normalized: bool = False
    in_log_space: bool = False
    arrays: str = "torch"
    summary: str = ""

    @property
    def who(self) -> str:
        return f"{self.kind} '{self.name}'"

    def as_dict(self) -> dict[str, Any]:
        """As it crosses to the service; absent is absent."""
        plain = {
            name: getattr(self, name)
            for name in (
                "kind",
                "name",
                "form",
                "requires",
                "timing",
                "granularity",
                "accepts",
                "needs_groups",
                "rows",
                "scorer",
                "remembers",
                "self_normalized",
                "in_log_space",
                "summary",
            )
        }
        found = {name: value for name, value in plain.items() if value is not None}
        return {**found, "params": [param.as_dict() for param in self.params]}


def summary_of(thing: Any) -> str:
    """First paragraph of a docstring, on one line."""
    text = inspect.cleandoc(thing.__doc__ or "")
    return " ".join(text.split("\n\n")[0].split())


# Where a decorated function or class keeps its declaration; its subclasses have none by it.
_MARK = "__dataflex_mq__"


def declaration_of(thing: Any) -> Declaration | None:
    """What a decorated function or class declares."""
    return vars(thing).get(_MARK) if hasattr(thing, "__dict__") else None


class Declared:
    """The components that the files of one process declare, in order. A name is used once per kind."""

    def __init__(self) -> None:
        self._found: list[Declaration] = []

    def add(self, declaration: Declaration, thing: Any) -> None:
        """`thing` is the function or class that it declares. Raises ValueError for a kind and name that are taken."""
        taken = any((other.kind, other.name) == (declaration.kind, declaration.name) for other in self._found)
        if taken:
            raise ValueError(f"{declaration.who} is declared twice: rename one, names are unique per kind")
        self._found.append(declaration)
        setattr(thing, _MARK, declaration)

    def take(self) -> list[Declaration]:
        """What was declared since the last call."""
        found, self._found = self._found, []
        return found


DECLARED = Declared()

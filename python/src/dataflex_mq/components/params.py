"""A component's parameters, read from the signature of what takes them."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Union, get_args, get_origin

# The annotation's origin → the word that the service knows; anything else is `any`.
_TYPES: dict[Any, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    tuple: "array",
    dict: "object",
}


@dataclass(frozen=True)
class Param:
    """One parameter. `type` is boolean, integer, number, string, array, object or any; `choices` are the values of a `Literal`."""

    name: str
    type: str
    required: bool
    default: Any = None
    nullable: bool = False
    choices: list[Any] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """As it crosses to the service."""
        found = {"name": self.name, "type": self.type, "required": self.required, "nullable": self.nullable}
        if not self.required:
            found["default"] = self.default
        if self.choices:
            found["choices"] = self.choices
        return found

    def read(self, value: Any) -> Any:
        """The value in the annotated type: a configuration's `1` is a `float` parameter's 1.0."""
        return (
            float(value) if self.type == "number" and isinstance(value, int) and not isinstance(value, bool) else value
        )


def constructor_params(cls: type, runtime: frozenset[str] = frozenset()) -> list[Param]:
    """
    The named parameters of `cls.__init__`, and of its bases' as long as each passes `**kwargs` on. Without those in `runtime`, which
    the framework fills in.
    """
    found: dict[str, Param] = {}
    for base in cls.__mro__:
        init = base.__dict__.get("__init__")
        if init is None:
            continue
        signature = list(_signature(init).parameters.values())[1:]
        for parameter in signature:
            if parameter.name not in runtime and parameter.kind in (
                parameter.POSITIONAL_OR_KEYWORD,
                parameter.KEYWORD_ONLY,
            ):
                found.setdefault(parameter.name, _param(parameter))
        if not any(parameter.kind == parameter.VAR_KEYWORD for parameter in signature):
            break
    return list(found.values())


def keyword_params(function: Callable[..., Any]) -> list[Param]:
    """The keyword-only parameters of a function."""
    parameters = _signature(function).parameters.values()
    return [_param(parameter) for parameter in parameters if parameter.kind == parameter.KEYWORD_ONLY]


def read_params(params: list[Param], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given values, each in its parameter's type."""
    known = {param.name: param for param in params}
    return {name: known[name].read(value) if name in known else value for name, value in given.items()}


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # an annotation that names something missing at run time is ignored
        return inspect.signature(function)


def _param(parameter: inspect.Parameter) -> Param:
    required = parameter.default is parameter.empty
    default = None if required else parameter.default
    kind, nullable, choices = _kind(parameter.annotation, default)
    if not required and not _is_plain(default):
        raise TypeError(f"parameter {parameter.name} has the default {default!r}, which no configuration can hold")
    default = list(default) if isinstance(default, tuple) else default
    return Param(parameter.name, kind, required, default, nullable or (not required and default is None), choices)


def _kind(annotation: Any, default: Any) -> tuple[str, bool, list[Any]]:
    """Word, whether None is allowed, choices."""
    if annotation is inspect.Parameter.empty or isinstance(annotation, str):
        # `low=0` may well be given 0.5: without an annotation only the default's kind counts.
        word = _TYPES.get(type(default), "any")
        return ("number" if word == "integer" else word), False, []
    origin = get_origin(annotation) or annotation
    if origin is Literal:
        return "any", False, list(get_args(annotation))
    if origin in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        nullable = len(members) < len(get_args(annotation))
        if len(members) == 1:
            word, _, choices = _kind(members[0], None)
            return word, nullable, choices
        words = {_TYPES.get(get_origin(member) or member, "any") for member in members}
        return ("number" if words == {"integer", "number"} else "any"), nullable, []
    return _TYPES.get(origin, "any"), False, []


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, bool | int | float | str)

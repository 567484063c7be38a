"""Checks of messages from outside: each key that is used is there and of its kind; others are ignored, so that newer peers may add some."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import error

# Judges a value: None when it is of the shape, else what is wrong, beginning with the key at fault.
Shape = Callable[[Any, str], str | None]

LONGEST_SHOWN = 40
MAX_INTEGER = 2**53 - 1


def checker(what: str, shape: Shape) -> Callable[[Any], Any]:
    """A function that answers its argument; it raises DECODE naming the first key that is wrong."""

    def check(value: Any) -> Any:
        wrong = shape(value, "")
        if wrong is None:
            return value
        message = f"malformed {what}: {wrong}. The writer and this reader may be of different versions"
        raise error("DECODE", message, {"message": what, "key": wrong.split(" ", 1)[0]})

    return check


def such(expected: str, test: Callable[[Any], bool]) -> Shape:
    return lambda value, path: None if test(value) else f"{path or 'it'} is {_shown(value)}, not {expected}"


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_INTEGER


text = such("text", lambda v: isinstance(v, str))
name = such("text that is not empty", lambda v: isinstance(v, str) and v != "")
flag = such("a boolean", lambda v: isinstance(v, bool))
real = such("a number", _is_real)
count = such("a whole number from 0", _is_count)
positive = such("a whole number from 1", lambda v: _is_count(v, 1))


def anything(_value: Any, _path: str) -> str | None:
    return None


def one_of(words: Sequence[str]) -> Shape:
    return such(f"one of {', '.join(words)}", lambda v: isinstance(v, str) and v in words)


def list_of(item: Shape) -> Shape:
    def check(value: Any, path: str) -> str | None:
        if not isinstance(value, list):
            return f"{path or 'it'} is {_shown(value)}, not a list"
        return next((wrong for i, v in enumerate(value) if (wrong := item(v, f"{path}[{i}]"))), None)

    return check


def map_of(item: Shape) -> Shape:
    def check(value: Any, path: str) -> str | None:
        if not isinstance(value, dict):
            return f"{path or 'it'} is {_shown(value)}, not a map"
        return next((wrong for key, v in value.items() if (wrong := item(v, _join(path, key)))), None)

    return check


def keys(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """A map with these keys; optional ones may be absent."""
    may = optional or {}

    def check(value: Any, path: str) -> str | None:
        if not isinstance(value, dict):
            return f"{path or 'it'} is {_shown(value)}, not a map"
        for key, shape in {**required, **may}.items():
            if key not in value:
                if key in may:
                    continue
                return f"{_join(path, key)} is missing"
            wrong = shape(value[key], _join(path, key))
            if wrong:
                return wrong
        return None

    return check


def both(first: Shape, second: Shape) -> Shape:
    """The second is asked only where the first finds nothing."""
    return lambda value, path: first(value, path) or second(value, path)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else str(key)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value[:LONGEST_SHOWN]}"'
    if isinstance(value, (list, bytes, dict)):
        return {list: "a list", bytes: "bytes", dict: "a map"}[type(value)]
    return {None: "null", True: "true", False: "false"}.get(value, str(value)[:LONGEST_SHOWN])

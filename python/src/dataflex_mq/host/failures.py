"""What goes wrong in a component, as the trainer gets it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable
from typing import Any

from ..components.step_columns import NonFiniteError

Failure = dict[str, Any]
_HERE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


class AnswerError(Exception):
    """A component returned what the framework cannot use."""


def failure_of(thrown: BaseException, who: str, roots: Iterable[str]) -> Failure:
    """A failure with code, message and details (exception, text, file, line). `roots`: folders of the plugins."""
    if isinstance(thrown, NonFiniteError):
        found = {"source": thrown.source, "rows": thrown.rows, "column": thrown.column, "value": repr(thrown.value)}
        return {"code": "NON_FINITE", "message": str(thrown), "details": found}
    if isinstance(thrown, AnswerError):
        return {"code": "COMPONENT", "message": f"{who} {thrown}", "details": {}}
    name = type(thrown).__name__
    text = _text(thrown)
    file, line = place_of(thrown, roots)
    where = f" ({os.path.basename(file)}, line {line})" if file else ""
    details: dict[str, Any] = {"exception": name, "text": text}
    if file:
        details |= {"file": file, "line": line}
    if _is_out_of_memory(thrown, text):
        hint = "give it fewer rows at once, a smaller model or dtype, or the worker fewer slots a device or more memory"
        return {
            "code": "OUT_OF_MEMORY",
            "message": f"{who} ran out of memory{where}: {text or name}; {hint}",
            "details": details,
        }
    return {"code": "COMPONENT", "message": f"{who} raised {name}{text and ': '}{text}{where}", "details": details}


def place_of(thrown: BaseException, roots: Iterable[str]) -> tuple[str | None, int | None]:
    """File and line of the innermost frame within the plugins' folders, else of the innermost of all."""
    if isinstance(thrown, SyntaxError) and thrown.filename:
        return thrown.filename, thrown.lineno
    frames = traceback.extract_tb(thrown.__traceback__)
    folders = tuple(os.path.join(root, "") for root in roots)
    own = [frame for frame in frames if frame.filename.startswith(folders)]
    if not own:
        return None, None
    return own[-1].filename, own[-1].lineno


def report(thrown: BaseException) -> None:
    """The traceback from the plugin's own frames on, for the worker's log. What the framework refuses has none."""
    if isinstance(thrown, AnswerError | NonFiniteError):
        return
    place = thrown.__traceback__
    while place is not None and place.tb_next is not None and place.tb_frame.f_code.co_filename.startswith(_HERE):
        place = place.tb_next
    traceback.print_exception(type(thrown), thrown, place, file=sys.stderr)
    sys.stderr.flush()


def _text(thrown: BaseException) -> str:
    if isinstance(thrown, KeyError) and len(thrown.args) == 1 and isinstance(thrown.args[0], str):
        return thrown.args[0]
    if isinstance(thrown, SyntaxError):
        return thrown.msg or "invalid syntax"
    return str(thrown)[:2000]


def _is_out_of_memory(thrown: BaseException, text: str) -> bool:
    if isinstance(thrown, MemoryError):
        return True
    named = type(thrown).__name__ == "OutOfMemoryError"
    return named or (isinstance(thrown, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text))

"""What a component returned, as plain arrays; anything that cannot be meant is refused by name."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..components.arrays import to_numpy
from ..components.step_columns import StepColumns
from .failures import AnswerError


def row_values(answer: Any, columns: StepColumns) -> np.ndarray:
    """float (rows,)."""
    values = _numbers(answer, f"one number a row, ({columns.rows},)")
    if values.ndim == 2 and 1 in values.shape:
        values = values.reshape(-1)
    if values.shape != (columns.rows,):
        raise AnswerError(f"returned shape {values.shape}, expected one number a row: ({columns.rows},)")
    return _floats(values)


def token_values(answer: Any, columns: StepColumns) -> np.ndarray:
    """float, one for each token under the mask, row after row."""
    spans, width = columns.mask, columns.longest
    values = _numbers(answer, f"one number a token, ({columns.rows}, {width})")
    if values.shape == (columns.rows, width):
        return _floats(values[spans.inside(0, columns.rows)[:, :width]])
    if values.shape == (spans.total,):
        return _floats(values)
    shapes = f"({columns.rows}, {width}) or, for the tokens under the mask alone, ({spans.total},)"
    raise AnswerError(f"returned shape {values.shape}, expected one number a token: {shapes}")


def kept_rows(answer: Any, columns: StepColumns, *, original: bool) -> np.ndarray:
    """
    int32, ascending, each once. One boolean a row is what is kept, numbers are row numbers; those below 0 count from the end where
    the class was written for the original, which indexed with them.
    """
    values = _numbers(answer, "the rows to keep: indices, or one boolean a row")
    if values.dtype == bool and values.shape == (columns.rows,):
        return np.flatnonzero(values).astype(np.int32)
    rows = values.reshape(-1)
    if rows.dtype.kind == "f":
        if not bool((rows == np.floor(rows)).all()):
            raise AnswerError("returned fractions; the rows to keep are whole numbers, or one boolean a row")
        rows = rows.astype(np.int64)
    lowest = -columns.rows if original else 0
    wrong = rows[(rows < lowest) | (rows >= columns.rows)]
    if len(wrong) > 0:
        raise AnswerError(f"kept row {wrong[0]}, but there are {columns.rows} rows")
    return np.unique(rows % max(columns.rows, 1)).astype(np.int32)


def shares(answer: Any, domains: list[str]) -> np.ndarray:
    """float64, one a domain."""
    if isinstance(answer, Mapping):
        unknown = [name for name in answer if name not in domains]
        if unknown or len(answer) != len(domains):
            raise AnswerError(f"returned shares of {list(answer)}, expected {domains}")
        answer = [answer[name] for name in domains]
    values = _numbers(answer, f"one share for each of {domains}").reshape(-1)
    if len(values) != len(domains):
        raise AnswerError(f"returned {len(values)} shares for {len(domains)} domains")
    return values.astype(np.float64)


def remembered(answer: Any) -> list[list[Any]]:
    """Names with finite numbers, as `[name, number, …]`."""
    if not isinstance(answer, Mapping):
        raise AnswerError(f"remember returned {_what(answer)}, expected names with numbers: {{name: number}}")
    found = []
    for name, value in answer.items():
        numbers = to_numpy(value if isinstance(value, list | tuple) or hasattr(value, "shape") else [value])
        if not isinstance(name, str) or numbers is None:
            raise AnswerError(f"remembers {name!r}: {value!r}, expected a name with numbers")
        found.append([name, *(float(number) for number in numbers.reshape(-1))])
    return found


def _numbers(answer: Any, want: str) -> np.ndarray:
    values = to_numpy(answer)
    if values is None:
        raise AnswerError(f"returned {_what(answer)}, expected {want}")
    return values


def _floats(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=values.dtype if values.dtype in (np.float32, np.float64) else np.float64)


def _what(answer: Any) -> str:
    if answer is None:
        return "None"
    if inspect.isgenerator(answer):
        return "a generator (it has yield, not return)"
    if inspect.iscoroutine(answer):
        answer.close()
        return "a coroutine: components are plain functions, not async ones"
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(answer, torch.Tensor):
        return f"a {answer.dtype} tensor of shape {tuple(answer.shape)}"
    if isinstance(answer, np.ndarray):
        return f"an array of {answer.dtype}"
    return f"a {type(answer).__name__}"

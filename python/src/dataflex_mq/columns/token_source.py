"""
A token matrix as the encoder reads it. Three kinds of it answer the same questions: padded in memory (`dense_source`), ragged in
memory (`flat_source`), on another device (`device_source`). All comparisons are of bits.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..errors import error
from .spans import Spans


class TokenSource(Protocol):
    dtype: str
    spans: Spans

    def is_row_constant(self) -> bool:
        """Whether every row has the same bits at all its tokens in scope."""

    def is_last_only(self) -> bool:
        """Whether every token in scope but each row's last is +0."""

    def count_nonzero(self, budget: int) -> int:
        """How many tokens in scope are not +0; exact up to `budget`."""

    def firsts(self) -> np.ndarray:
        """(rows,) words of each row's first token in scope, 0 where it has none."""

    def lasts(self) -> np.ndarray:
        """(rows,) words of each row's last token in scope, 0 where it has none."""

    def dense(self) -> np.ndarray:
        """Every element, row-major, +0 out of scope."""

    def jagged(self) -> np.ndarray:
        """The tokens in scope, row after row."""

    def sparse(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """counts (rows,) i32, positions in the row i32 and values of the tokens in scope that are not +0."""


def check_holds(field: str, stored: np.ndarray | int, spans: Spans) -> None:
    """Raises INVALID_INPUT when a row holds fewer tokens (`stored`, one number or one a row) than are in scope."""
    needed = spans.ends()
    short = np.flatnonzero(needed > stored)
    if len(short) == 0:
        return
    row = int(short[0])
    held = int(stored if isinstance(stored, int) else stored[row])
    raise error(
        "INVALID_INPUT",
        f'Field "{field}" has {held} tokens in row {row}, and its tokens in scope reach to {int(needed[row])}; '
        "send every response token.",
        {"field": field, "row": row, "column": held},
    )

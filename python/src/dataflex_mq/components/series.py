"""What a mixer proposes shares by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Series:
    """
    The history of each domain's scores, as far as the pipeline's window reaches. All arrays are float64, (domains,).

    `means`: mean score of the rows within the window. `slopes`: least-squares slope of the step means within the window.
    `counts`: rows seen in all. `prior`: the shares before anything was scored.
    """

    domains: list[str]
    means: np.ndarray
    slopes: np.ndarray
    counts: np.ndarray
    prior: np.ndarray

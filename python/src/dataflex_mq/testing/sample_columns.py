"""A sample as the columns that a worker would hand over."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..columns.tensor import FeaturesColumn, Layout, MaskColumn, StringsColumn, TokenColumn, VectorColumn
from ..components.step_columns import Column, StepColumns
from .samples import Sample

# Fields whose tokens count where the mask is 0 too: a trainer puts an outcome on the last response token.
_RESPONSE_SCOPED = ("rm_scores", "token_level_scores", "token_level_rewards")


def columns_of(sample: Sample, scopes: dict[str, str], wider: int = 0) -> StepColumns:
    """In memory of its own. `wider`: tokens of padding beyond the longest response; the lengths are then left out."""
    lengths = np.array(sample.lengths, dtype=np.int32)
    width = int(lengths.max(initial=0)) + wider
    layout = Layout(sample.rows, width, _mask(sample, width), None if wider else lengths)
    fields: dict[str, Column] = {
        name: _column(name, values, sample, width, scopes.get(name)) for name, values in sample.fields.items()
    }
    return StepColumns(layout, fields, {}, np.ones(sample.rows, dtype=np.uint8))


def token_matrix(values: list[np.ndarray], longest: int) -> np.ndarray:
    """(rows, longest) from the response tokens of each row, 0 beyond them."""
    matrix = np.zeros((len(values), longest))
    for row, tokens in zip(matrix, values, strict=True):
        row[: len(tokens)] = tokens
    return matrix


def _mask(sample: Sample, width: int) -> MaskColumn:
    edges = [np.flatnonzero(np.diff(np.r_[0, row, 0])) for row in sample.mask]
    offsets = np.r_[0, np.cumsum([len(edge) // 2 for edge in edges])].astype(np.int32)
    bounds = np.concatenate([*edges, np.zeros(0, dtype=np.int64)]).astype(np.int32).reshape(-1, 2)
    return MaskColumn("u8", sample.rows, width, None, offsets, bounds)


def _column(name: str, values: Any, sample: Sample, width: int, scope: str | None) -> Any:
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return FeaturesColumn("f32", sample.rows, values.astype(np.float32))
    if isinstance(values, np.ndarray):
        return VectorColumn("f32", sample.rows, values.astype(np.float32))
    if values and isinstance(values[0], str):
        table = list(dict.fromkeys(values))
        return StringsColumn(sample.rows, table, np.array([table.index(value) for value in values], dtype=np.int32))
    scope = scope or ("response" if name in _RESPONSE_SCOPED else "mask")
    if scope == "response" and width > max(sample.lengths, default=0):
        padded = token_matrix(values, width).astype(np.float32)
        return TokenColumn("dense", "f32", scope, sample.rows, width, padded)
    kept = [row if scope == "response" else row[mask == 1] for row, mask in zip(values, sample.mask, strict=True)]
    offsets = np.r_[0, np.cumsum([len(row) for row in kept])].astype(np.int32)
    flat = np.concatenate([*kept, np.zeros(0, dtype=np.float32)]).astype(np.float32)
    return TokenColumn("jagged", "f32", scope, sample.rows, width, flat, offsets)

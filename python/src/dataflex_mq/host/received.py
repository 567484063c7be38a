"""The columns of a call, from its frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..columns.tensor import FeaturesColumn, Layout, MaskColumn, StringsColumn, TokenColumn, VectorColumn
from ..components.step_columns import Column, StepColumns

# NumPy's name of an array's type → the dtype that it holds here.
_DTYPES = {"<f4": "f32", "<f8": "f64", "|i1": "i8", "|u1": "u8", "<i4": "i32"}
_NATIVE = {"f4": "<f4", "f8": "<f8", "i1": "|i1", "u1": "|u1", "i4": "<i4"}


class Bodies:
    """The arrays of a frame: a reference is `[number of the body, type]`."""

    def __init__(self, bodies: list[np.ndarray]) -> None:
        self._bodies = bodies

    def array(self, reference: list[Any]) -> np.ndarray:
        number, kind = reference
        return self._bodies[number].view(_NATIVE[kind])

    def optional(self, reference: list[Any] | None) -> np.ndarray | None:
        return None if reference is None else self.array(reference)


def read_columns(header: dict[str, Any], bodies: Bodies) -> StepColumns:
    """The live rows of a step, as the worker sends them."""
    rows, width = header["rows"], header["width"]
    layout = Layout(
        rows,
        width,
        header["mask"] and read_mask(header["mask"], rows, width, bodies),
        bodies.optional(header["lengths"]),
    )
    fields: dict[str, Column] = {}
    stored: dict[str, str] = {}
    for column in header["columns"]:
        name = column["name"]
        fields[name] = _column(column, rows, width, bodies)
        held = getattr(fields[name], "dtype", "")
        if column.get("dtype", held) != held:
            stored[name] = column["dtype"]
    return StepColumns(layout, fields, stored, bodies.array(header["counted"]))


def read_mask(found: dict[str, Any], rows: int, width: int, bodies: Bodies) -> MaskColumn:
    """A 0/1 matrix of runs of ones; those at the start of every row become lengths, which are quicker."""
    offsets = bodies.array(found["offsets"])
    bounds = bodies.array(found["bounds"]).reshape(-1, 2)
    if bool((np.diff(offsets) <= 1).all()) and not bool(bounds[:, 0].any()):
        lengths = np.zeros(rows, dtype=np.int32)
        lengths[np.diff(offsets) == 1] = bounds[:, 1]
        return MaskColumn("u8", rows, width, lengths)
    return MaskColumn("u8", rows, width, None, offsets, bounds)


def _column(column: dict[str, Any], rows: int, width: int, bodies: Bodies) -> Column:
    kind = column["kind"]
    if kind == "runs":
        return read_mask(column, rows, width, bodies)
    if kind == "strings":
        return StringsColumn(rows, column["table"], bodies.array(column["index"]))
    values = bodies.array(column["values"])
    dtype = _DTYPES[values.dtype.str]
    if kind == "vector":
        return VectorColumn(dtype, rows, values)
    if kind == "features":
        return FeaturesColumn(dtype, rows, values.reshape(rows, column["width"]))
    offsets = bodies.optional(column.get("offsets"))
    index = bodies.optional(column.get("index"))
    own = bodies.optional(column.get("lengths"))
    if kind == "dense":
        values = values.reshape(rows, width)
    return TokenColumn(kind, dtype, column["scope"], rows, width, values, offsets, index, own)

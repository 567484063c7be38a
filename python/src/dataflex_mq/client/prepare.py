"""A put, encoded and cut into chunks: what the client keeps until its step settles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..columns.chunks import chunks_of
from ..columns.encode import encode_columns
from ..columns.field_kinds import SPREAD_FIELDS, kind_of
from ..columns.input_types import FieldValue, is_ragged, is_string, is_vector
from ..columns.layout import layout_of
from ..columns.row_ranges import count_rows, to_bitmap
from ..columns.spread_rows import spread_rows
from ..columns.take_rows import take_rows
from ..columns.tensor import Layout, MaskColumn, Tensor
from ..protocol.codec import pack
from ..protocol.put_id import content_hash, put_id
from ..redis.mounts import Handle
from ..sentences import error_of
from .form import check_values
from .rows import RowPlan
from .sessions import check_index


@dataclass(frozen=True, slots=True)
class PreparedPut:
    header: dict[str, Any]
    header_bytes: bytes
    # Copies of the trainer's memory: it may reuse its arrays for the next step while this put is kept.
    chunks: list[bytes]
    fields: list[str]
    bitmap: bytes
    layout: Layout
    ranges: list[int]


def prepare_put(
    handle: Handle,
    stage: str,
    fields: Mapping[str, FieldValue],
    plan: RowPlan,
    total_rows: int,
    lengths: np.ndarray | None = None,
    is_padding: np.ndarray | None = None,
    mask: MaskColumn | None = None,
    sessions: Mapping[str, FieldValue] | None = None,
) -> PreparedPut:
    """
    fields: those that the handle asks for. sessions: what rides along (`riding_sessions`). lengths, is_padding: (rows,) of this put. All
    are in the input's order. mask: of the same rows, from an earlier put of this step and stage. Raises INVALID_INPUT with field, row and
    column; LIMIT.
    """
    limits = handle["limits"]
    rows = count_rows(plan.ranges)
    values = {**fields, **(sessions or {})}
    scopes = {need["name"]: need.get("scope") for need in handle["stages"][stage]}
    mask_field = values.get("response_mask")
    if lengths is None and mask_field is not None and is_ragged(mask_field):
        # A ragged mask defines the length of each response; its encoded form holds only the positions of the ones.
        lengths = mask_field.lengths
    if lengths is not None:
        values["lengths"] = Tensor("i32", lengths)
    if is_padding is not None:
        values["is_padding"] = Tensor("bool", is_padding.astype(np.uint8))
    needs = {need["name"]: need for need in handle["stages"][stage]}
    check_values(values, needs, rows)
    check_index(values, is_padding)
    if plan.order is not None:
        values = {name: take_rows(value, plan.order) for name, value in values.items()}
    ordered = lengths if lengths is None or plan.order is None else lengths[plan.order]
    layout = layout_of(values, rows, ordered)
    if layout.mask is None and mask is not None:
        layout = replace(layout, mask=mask)
    if _spread_vectors(values, needs, layout):
        layout = replace(layout_of(values, rows, ordered), mask=layout.mask)
    encoded = encode_columns(values, scopes, layout, limits)
    chunks = chunks_of(encoded.parts, limits["chunk_bytes"])
    names = sorted(fields)
    header = {
        "v": handle["v"],
        "id": put_id(stage, names, plan.ranges),
        "hash": content_hash(chunks, encoded.columns),
        "stage": stage,
        "total_rows": total_rows,
        "rows": plan.ranges,
        "columns": encoded.columns,
        "bytes": encoded.size,
        "chunks": len(chunks),
        "chunk_bytes": limits["chunk_bytes"],
    }
    return PreparedPut(header, pack(header), chunks, names, to_bitmap(plan.ranges, total_rows), layout, plan.ranges)


def _spread_vectors(values: dict[str, FieldValue], needs: Mapping[str, Mapping[str, Any]], layout: Layout) -> bool:
    """Rewards and advantages of one number a row, as the numbers a token that they stand for. Says whether there were any."""
    spread = False
    for name, need in needs.items():
        value = values.get(name)
        if value is None or is_string(value) or not is_vector(value) or kind_of(need) != "tokens":
            continue
        tokens = spread_rows(value, SPREAD_FIELDS[name], layout)
        if tokens is None:
            raise error_of("INVALID_INPUT.no_mask", field=name)
        values[name] = tokens
        spread = True
    return spread

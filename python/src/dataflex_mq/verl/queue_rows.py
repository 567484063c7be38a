"""Rows as verl keeps them in TransferQueue, as fields of a put."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import transfer_queue as tq

from ..errors import error


@dataclass(frozen=True, slots=True)
class Rows:
    """
    keys: verl's names of the rows. fields: name → jagged tensor (rows, j) or object array of strings (rows,). lengths (rows,): response
    lengths in tokens. is_padding (rows,): rows that verl appended to fill the batch up.
    """

    keys: list[str]
    fields: Mapping[str, Any]
    lengths: np.ndarray
    is_padding: np.ndarray


def read_rows(batch: Any, wanted: Iterable[str]) -> Rows:
    """
    batch: verl's KVBatchMeta; rows come in the order of its keys. wanted: names of fields; `uid` and `session` are taken from verl's keys
    (`{uid}_{session}_{index}`), the others from the queue. Raises INVALID_INPUT for a field that the queue does not hold for every row.
    """
    keys = list(batch.keys)
    stored = [name for name in wanted if name not in ("uid", "session")]
    data = tq.kv_batch_get(keys=keys, partition_id=batch.partition_id, select_fields=sorted({*stored, "response_mask"}))
    fields: dict[str, Any] = {}
    for name in stored:
        fields[name] = _value(name, data, keys)
    parts = [key.rsplit("_", 2) for key in keys]
    if "uid" in wanted:
        fields["uid"] = np.array([part[0] for part in parts], dtype=object)
    if "session" in wanted:
        fields["session"] = np.array([part[1] if len(part) == 3 else "0" for part in parts], dtype=object)
    mask = _value("response_mask", data, keys)
    is_padding = np.array([bool(tag.get("is_padding", False)) for tag in batch.tags], dtype=bool)
    return Rows(keys, fields, mask.offsets().diff().numpy(), is_padding)


def read_stored(keys: list[str], partition: str, names: Iterable[str]) -> dict[str, Any]:
    """Fields of these rows, in their order, as stored; one that some row lacks is left out."""
    data = tq.kv_batch_get(keys=keys, partition_id=partition, select_fields=list(names))
    return {name: data[name] for name in names if name in data}


def _value(name: str, data: Any, keys: list[str]) -> Any:
    if name not in data:
        message = (
            f'the queue does not hold "{name}" for every one of the {len(keys)} rows of this batch: does this run compute it? '
            "Mount a scorer that reads what it does"
        )
        raise error("INVALID_INPUT", message, {"field": name})
    value = data[name]
    if hasattr(value, "is_nested"):
        return value
    # Non-tensor columns come back as a list-like of the backend's own kind.
    return np.array([str(one) for one in list(value)], dtype=object)

"""Rows as verl keeps them in TransferQueue, as fields of a put."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import transfer_queue as tq

from ..columns.field_names import SESSION_COLUMNS
from ..errors import error

# A row of verl; the uid itself may hold underscores.
_KEY = re.compile(r"(.+)_(\d+)_(\d+)", re.DOTALL)

# The newest version of the weights that a row was sampled with; verl keeps it among a row's tags, not in the queue's fields.
VERSION = "policy_version"
_VERSION_TAG = "max_global_steps"


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
    batch: verl's KVBatchMeta; rows come in the order of its keys. wanted: names of fields; `uid`, and with it `session` and
    `session_index`, are taken from verl's keys (`{uid}_{session}_{index}`), the others from the queue. Raises INVALID_INPUT for a field
    that the queue does not hold for every row, and for a row of another name.
    """
    keys = list(batch.keys)
    stored = [name for name in wanted if name not in ("uid", *SESSION_COLUMNS, VERSION)]
    data = tq.kv_batch_get(keys=keys, partition_id=batch.partition_id, select_fields=sorted({*stored, "response_mask"}))
    fields: dict[str, Any] = {}
    for name in stored:
        fields[name] = _value(name, data, keys)
    if any(name in wanted for name in ("uid", *SESSION_COLUMNS)):
        fields.update(_parts_of(keys))
    if VERSION in wanted:
        fields[VERSION] = _versions(batch.tags, keys)
    mask = _value("response_mask", data, keys)
    is_padding = np.array([bool(tag.get("is_padding", False)) for tag in batch.tags], dtype=bool)
    return Rows(keys, fields, mask.offsets().diff().numpy(), is_padding)


def read_stored(keys: list[str], partition: str, names: Iterable[str]) -> dict[str, Any]:
    """Fields of these rows, in their order, as stored; one that some row lacks is left out."""
    data = tq.kv_batch_get(keys=keys, partition_id=partition, select_fields=list(names))
    return {name: data[name] for name in names if name in data}


def _parts_of(keys: list[str]) -> dict[str, Any]:
    """What verl's names of rows say; TransferQueue carries none of it as a column."""
    parts = [_KEY.fullmatch(key) for key in keys]
    for key, part in zip(keys, parts, strict=True):
        if part is None:
            message = f'the queue names a row "{key}", which is not {{uid}}_{{session}}_{{index}}, as verl names them'
            raise error("INVALID_INPUT", message, {"key": key})
    named = [part.groups() for part in parts if part is not None]
    return {
        "uid": np.array([uid for uid, _, _ in named], dtype=object),
        "session": np.array([session for _, session, _ in named], dtype=object),
        "session_index": np.array([int(index) for _, _, index in named], dtype=np.int64),
    }


def _versions(tags: Iterable[Mapping[str, Any]], keys: list[str]) -> np.ndarray:
    """(rows,): 0 for padding, which counts nowhere."""
    versions = [0 if tag.get("is_padding", False) else tag.get(_VERSION_TAG) for tag in tags]
    for key, version in zip(keys, versions, strict=True):
        if version is None:
            message = (
                f'row "{key}" has no tag {_VERSION_TAG}, so the version of the policy that sampled it is not known: have the agent loop '
                "set it in extra_fields, as verl's own does, or mount no scorer that reads policy_version"
            )
            raise error("INVALID_INPUT", message, {"key": key, "field": VERSION})
    return np.array(versions, dtype=np.int32)


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
    values = list(value)
    if all(isinstance(one, (bool, int, float, np.number, np.bool_)) for one in values):
        return np.array(values)
    return np.array([str(one) for one in values], dtype=object)

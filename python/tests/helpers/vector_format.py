"""How golden vectors write values; test/vectors/README.md says the same in prose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dataflex_mq.columns.dtypes import STORAGE, bits_of
from dataflex_mq.columns.half import widen_bf16
from dataflex_mq.columns.input_types import FieldValue
from dataflex_mq.columns.tensor import Features, Strings, Tensor

from .paths import VECTORS

NAMED = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"), "-0": -0.0}


def vectors(kind: str) -> Iterator[tuple[str, dict[str, Any], bytes]]:
    for path in sorted((VECTORS / "v1").glob("*.json")):
        vector = json.loads(path.read_text())
        if vector["kind"] == kind:
            yield path.stem, vector, Path(path.with_suffix(".bin")).read_bytes()


def from_json(dtype: str, values: list[Any]) -> np.ndarray:
    """Elements of `dtype` from their JSON form."""
    data = np.zeros(len(values), dtype=STORAGE[dtype])
    bits = bits_of(data)
    for i, value in enumerate(values):
        if isinstance(value, str) and value.startswith("0x"):
            bits[i] = int(value, 16)
        elif dtype == "i64":
            data[i] = int(value)
        else:
            number = NAMED[value] if isinstance(value, str) else value
            data[i] = narrow_bf16(np.array([number], dtype=np.float32))[0] if dtype == "bf16" else number
    return data


def narrow_bf16(values: np.ndarray) -> np.ndarray:
    """float32 → bf16 words, rounding to nearest, ties to even; a NaN stays a NaN, with its upper payload."""
    bits = np.ascontiguousarray(values, dtype="<f4").view("<u4")
    high = bits >> np.uint32(16)
    rounded = (bits.astype("<u8") + 0x7FFF + (high & np.uint32(1))) >> np.uint64(16)
    nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    kept = np.where((high & np.uint32(0x7F)) == 0, high | np.uint32(0x40), high)
    return np.where(nan, kept, rounded).astype("<u2")


def as_numbers(dtype: str, data: np.ndarray) -> np.ndarray:
    return widen_bf16(data) if dtype == "bf16" else data


def field_values(vector: dict[str, Any]) -> dict[str, FieldValue]:
    """The fields of a `columns` vector as the encoder takes them."""
    fields: dict[str, FieldValue] = {}
    for name, field in vector["fields"].items():
        if field["dtype"] == "strings":
            fields[name] = Strings(field["values"])
        elif "scope" in field:
            flat = [value for row in field["values"] for value in row]
            data = from_json(field["dtype"], flat).reshape(vector["rows"], vector["width"])
            fields[name] = Tensor(field["dtype"], data)
        elif field["values"] and isinstance(field["values"][0], list):
            flat = [value for row in field["values"] for value in row]
            data = from_json(field["dtype"], flat).reshape(len(field["values"]), -1 if flat else 0)
            fields[name] = Features(field["dtype"], data)
        else:
            fields[name] = Tensor(field["dtype"], from_json(field["dtype"], field["values"]))
    return fields


def message_from_json(value: Any) -> Any:
    """`{"$float": text}` is a float, `{"$bin": hex}` bytes; the rest is what it looks like."""
    if isinstance(value, list):
        return [message_from_json(member) for member in value]
    if not isinstance(value, dict):
        return value
    if "$float" in value:
        return NAMED.get(value["$float"]) if value["$float"] in NAMED else float(value["$float"])
    if "$bin" in value:
        return bytes.fromhex(value["$bin"])
    return {key: message_from_json(member) for key, member in value.items()}

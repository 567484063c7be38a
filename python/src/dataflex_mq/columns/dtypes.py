"""
Element types of the wire format, all little-endian. An array of a dtype is held in the NumPy type of `STORAGE`: bf16 as its 16-bit
words, bool as bytes 0 and 1, f16 as float16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPE_BYTES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "u8": 1, "i32": 4, "i64": 8, "bool": 1}

STORAGE: dict[str, np.dtype[Any]] = {
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
    "f16": np.dtype("<f2"),
    "bf16": np.dtype("<u2"),
    "i8": np.dtype("i1"),
    "u8": np.dtype("u1"),
    "i32": np.dtype("<i4"),
    "i64": np.dtype("<i8"),
    "bool": np.dtype("u1"),
}

# Integers of each element size: what is compared or copied this way keeps NaN payloads and -0.
_BITS: dict[int, np.dtype[Any]] = {1: np.dtype("u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4"), 8: np.dtype("<u8")}

# The word of 1 in each dtype, as an unsigned integer of its size.
ONE_BITS = {
    "f32": 0x3F800000,
    "f64": 0x3FF0000000000000,
    "f16": 0x3C00,
    "bf16": 0x3F80,
    "i8": 1,
    "u8": 1,
    "i32": 1,
    "i64": 1,
    "bool": 1,
}
# The word of -0, which a mask reads as 0.
MINUS_ZERO_BITS = {"f32": 0x80000000, "f64": 0x8000000000000000, "f16": 0x8000, "bf16": 0x8000}


def bits_of(data: np.ndarray) -> np.ndarray:
    """The words of an array, in place."""
    return data.view(_BITS[data.dtype.itemsize])


def is_dtype(value: object) -> bool:
    return isinstance(value, str) and value in DTYPE_BYTES

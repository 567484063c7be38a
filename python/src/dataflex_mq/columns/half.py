"""16-bit floats as their words, to float32 and back, by bits: NaN payloads survive."""

from __future__ import annotations

import numpy as np


def widen_bf16(words: np.ndarray) -> np.ndarray:
    """bf16 words → float32, exactly."""
    return (words.astype("<u4") << np.uint32(16)).view("<f4")


def narrow_bf16(values: np.ndarray) -> np.ndarray:
    """float32 → bf16 words, rounding to nearest, ties to even; a NaN stays a NaN, with its upper payload."""
    bits = np.ascontiguousarray(values, dtype="<f4").view("<u4")
    high = bits >> np.uint32(16)
    rounded = (bits.astype("<u8") + 0x7FFF + (high & np.uint32(1))) >> np.uint64(16)
    nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    kept = np.where((high & np.uint32(0x7F)) == 0, high | np.uint32(0x40), high)
    return np.where(nan, kept, rounded).astype("<u2")

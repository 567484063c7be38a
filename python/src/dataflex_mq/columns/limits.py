"""What a decoder takes unless the handle says otherwise."""

from __future__ import annotations

from collections.abc import Mapping

Limits = Mapping[str, int]

DEFAULT_LIMITS: Limits = {
    "chunk_bytes": 1 << 20,
    "inline_bytes": 64 << 10,
    "max_put_bytes": 4 * 1024**3,
    "max_rows": 1 << 20,
    "max_width": 1 << 20,
    "max_tokens": 1 << 26,
    "max_string_bytes": 1024,
    "step_ttl_ms": 3_600_000,
}

# Offsets are 32-bit: a matrix with more tokens in scope has no jagged or sparse form.
MAX_INDEXED = 0x7FFFFFFF

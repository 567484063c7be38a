"""
What encoding costs beside copying, of 8192 × 4096: advantages, which are the same over a row, alone and with masks of every kind (int64 is
verl's), then values that differ (log-probs). Usage: python bench/encode.py [rows] [width]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dataflex_mq.columns.encode import encode_columns
from dataflex_mq.columns.input import to_field_value
from dataflex_mq.columns.layout import layout_of
from dataflex_mq.columns.tensor import Layout


def encode(fields: dict[str, Any], known: Layout | None = None) -> str:
    """known: the layout of a mask that an earlier put brought."""
    values = {name: to_field_value(name, value) for name, value in fields.items()}
    layout = layout_of(values, len(fields["response_mask"])) if known is None else known
    columns = encode_columns(values, dict.fromkeys(values, "mask"), layout)
    return ", ".join(f"{column['name']} {column['enc']}" for column in columns.columns) + f", {columns.size:,} bytes"


def median_ms(work: Callable[[], Any], times: int = 5) -> float:
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        spent.append((time.perf_counter() - began) * 1000)
    return sorted(spent)[times // 2]


def main(rows: int, width: int) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(width // 8, width + 1, rows)
    inside = np.arange(width) < lengths[:, None]
    advantages = np.where(inside, rng.normal(size=rows).astype(np.float32)[:, None], np.float32(0))
    log_probs = np.where(inside, -rng.random((rows, width), dtype=np.float32), np.float32(0))
    holes = inside & (rng.integers(0, width // 8, (rows, 1)) + np.arange(width) // 3 % 40 > 4)
    mask = layout_of({"response_mask": to_field_value("response_mask", inside)}, rows)
    cases = {
        "advantages, mask known": {"advantages": advantages},
        "advantages and bool mask": {"advantages": advantages, "response_mask": inside},
        "advantages and int64 mask": {"advantages": advantages, "response_mask": inside.astype(np.int64)},
        "advantages and mask with holes": {"advantages": advantages, "response_mask": holes},
        "log-probs and mask": {"old_log_probs": log_probs, "response_mask": inside},
    }
    print(f"{rows} × {width}: {advantages.nbytes / 1e6:.0f} MB of float32")
    for name, fields in cases.items():
        copy = median_ms(lambda fields=fields: [value.copy() for value in fields.values()])
        known = None if "response_mask" in fields else mask
        took = median_ms(lambda fields=fields, known=known: encode(fields, known))
        shown = encode(fields, known)
        print(f"{name:32} encode {took:7.1f} ms   copy {copy:7.1f} ms   ratio {took / copy:5.2f}   ({shown})")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*(given if len(given) == 2 else (8192, 4096)))

"""Eight rows, half of which a selection drops."""

from __future__ import annotations

from stored_rows import Row

SELECT = {
    "mechanism": "select",
    "scorer": {"name": "group_solve_rate"},
    "actuator": {"name": "threshold_band", "params": {"low": 0.2, "high": 0.7}},
}
SOFTMAX = {"mechanism": "reweight", "scorer": {"name": "advantage_magnitude"}, "actuator": {"name": "softmax"}}

# Group "a" is solved by three of four and leaves the band (0.2, 0.7); "b" by half. Both have advantages. Lengths differ; b_2 has a masked
# tool token in the middle.
ROWS = [
    *(Row(f"a_{i}_0", [1] * (2 + i), float(i > 0)) for i in range(4)),
    Row("b_0_0", [1, 1, 1], 1.0),
    Row("b_1_0", [1, 1], 0.0),
    Row("b_2_0", [1, 1, 0, 1], 1.0),
    Row("b_3_0", [1], 0.0),
]
DROPPED, KEPT = slice(0, 4), slice(4, 8)

"""Names of metrics, against verl's own way of merging those of a step's updates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verl.trainer.ppo.v1.utils import MetricsAggregator

from dataflex_mq.verl.metrics import metric_part

WORDS = ["max", "min", "sum", "total", "lr", "ge", "i", "_", "m", "Max", "TOTAL", "avg", "math"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map("".join))
def test_a_name_with_such_a_word_is_averaged_all_the_same(name: str) -> None:
    aggregator = MetricsAggregator()
    for metric in (f"dataflex/prop_{metric_part(name)}", f"dataflex/{metric_part(name)}/weight_mean"):
        assert aggregator._get_aggregation_type(metric) == "weighted_avg"


@pytest.mark.parametrize(
    ("name", "part"), [("gemini", "gem-ini"), ("consumer", "cons-umer"), ("lr", "l-r"), ("math", "math")]
)
def test_a_name_stays_readable(name: str, part: str) -> None:
    assert metric_part(name) == part

"""Every component that the original has, through the real broker and worker; the numbers are worked out by hand on fixture F."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_mq import Client
from helpers.fixture_f import (
    ADVANTAGES,
    MASK,
    PROBABILITIES,
    REWARDS,
    SOFTMAX,
    SOFTMAX_WEIGHTS,
    TOKEN_WEIGHTS,
    TOKENS,
    block,
    fields,
)
from helpers.runs import mounted, posted, weighed

SIZE = np.abs(ADVANTAGES)
# E1. Scores are read off unnormalised softmax weights: their logarithms, up to one constant.
SCORES = {
    "advantage_magnitude": ({}, SIZE),
    "advantage_magnitude sum": (
        {"agg": "sum"},
        [3.464096, 2.598072, 1.732048, 3.464096, 0.499999, 1.499997, 1.999996, 2.999994],
    ),
    "advantage_magnitude max": ({"agg": "max"}, SIZE),
    "reward_difficulty": ({}, REWARDS),
    "group_solve_rate": ({}, [0.5] * 4 + [0.75] * 4),
}
# E2, E5 and the difficulty band, mean one over rows.
ROW_WEIGHTS = {
    "softmax": (SOFTMAX, SOFTMAX_WEIGHTS),
    "softmax over tokens": (
        {**SOFTMAX, "normalize": "token"},
        [1.030556] * 4 + [0.714676] * 3 + [1.942686],
    ),
    "per_advantage": (
        block("reweight", "advantage_magnitude", ("per_advantage", {"alpha": 0.5})),
        [1.053244] * 4 + [0.800292] * 3 + [1.386147],
    ),
}
# E6, E7
KEPT: dict[str, tuple[dict[str, Any], list[int]]] = {
    "threshold_band": (
        block("select", "group_solve_rate", ("threshold_band", {"low": 0.6, "high": 0.8})),
        [4, 5, 6, 7],
    ),
    "topk_fraction": (block("select", "advantage_magnitude", ("topk_fraction", {"fraction": 0.5})), [0, 1, 2, 7]),
    "gfpo": (block("select", "reward_difficulty", ("gfpo", {"k": 2, "metric": "short"})), [1, 2, 4, 7]),
    "max_variance": (block("select", "reward_difficulty", ("max_variance", {"keep_fraction": 0.5})), [1, 2, 6, 7]),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores(client: Client, run_id: str, name: str) -> None:
    params, scores = SCORES[name]
    config = block("reweight", (name.split()[0], params), "softmax", normalize="none")
    weights = weighed(mounted(client, run_id, config), 1, fields()).weights
    np.testing.assert_allclose(np.log(weights) - np.log(weights[0]), scores - np.float64(scores[0]), atol=2e-6)


@pytest.mark.parametrize("name", ROW_WEIGHTS)
def test_row_weights(client: Client, run_id: str, name: str) -> None:
    config, expected = ROW_WEIGHTS[name]
    result = weighed(mounted(client, run_id, config), 1, fields())
    assert result.weights.dtype == np.float32
    np.testing.assert_allclose(result.weights, expected, atol=1.5e-6)
    (pipeline,) = result.pipelines.values()
    assert pipeline.header["stats"]["n"] in (8, 23)
    assert pipeline.header["granularity"] == "row"


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([0, 0.5, 0.5, 1], [0.666667, 1.333333, 1.333333, 0.666667]),
        ([0, 0.2, 0.4, 0.6, 0.8], [0.625, 1.25, 1.25, 1.25, 0.625]),
    ],
)
def test_difficulty_band(client: Client, run_id: str, rates: list[float], expected: list[float]) -> None:
    config = block("reweight", "reward_difficulty", "difficulty_band")
    step = {"rm_scores": [[rate] for rate in rates], "response_mask": [[1]] * len(rates)}
    np.testing.assert_allclose(weighed(mounted(client, run_id, config), 1, step).weights, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("temperature", "expected"), [(1, [0.4, 0.8, 1.2, 1.6]), (0.5, [0.133333, 0.533333, 1.2, 2.133333])]
)
def test_softmax_of_logarithms(client: Client, run_id: str, temperature: float, expected: list[float]) -> None:
    config = block("reweight", "reward_difficulty", ("softmax", {"temperature": temperature}))
    step = {"rm_scores": np.log([[1], [2], [3], [4]]).astype(np.float32), "response_mask": np.ones((4, 1), bool)}
    np.testing.assert_allclose(weighed(mounted(client, run_id, config), 1, step).weights, expected, atol=1e-6)


def test_token_weights(client: Client, run_id: str) -> None:
    result = weighed(mounted(client, run_id, TOKENS), 1, fields())
    assert result.weights.shape == (8, 4)
    np.testing.assert_allclose(result.weights[MASK], TOKEN_WEIGHTS, atol=1e-6)
    assert not result.weights[~MASK].any()
    plain = {**TOKENS, "actuator": {"name": "advantage_reweight", "params": {"alpha": 1}}, "normalize": "none"}
    raw = weighed(mounted(client, f"{run_id}-raw", plain), 1, fields()).weights
    np.testing.assert_allclose(raw[MASK], np.concatenate(PROBABILITIES), atol=1e-6)


@pytest.mark.parametrize("name", KEPT)
def test_selections(client: Client, run_id: str, name: str) -> None:
    config, kept = KEPT[name]
    result = weighed(mounted(client, run_id, config), 1, fields())
    (pipeline,) = result.pipelines.values()
    assert pipeline.kept is not None
    assert pipeline.kept.tolist() == kept
    assert result.weights.tolist() == [float(row in kept) for row in range(8)]


def test_composition_of_a_selection_and_a_softmax(client: Client, run_id: str) -> None:
    half = block("select", "group_solve_rate", ("threshold_band", {"low": 0.25, "high": 0.6}))
    for rescale, expected in (("none", 1.004326), ("row", 2), ("token", 1.769231)):
        config = {"pipelines": {"half": half, "size": SOFTMAX}, "rescale": rescale}
        result = weighed(mounted(client, f"{run_id}-{rescale}", config), 1, fields())
        assert list(result.pipelines) == ["half", "size"]
        np.testing.assert_allclose(result.weights, [expected] * 4 + [0] * 4, atol=1e-6)


@pytest.mark.parametrize("mixer", ["static", "reward_gap", "dump_ucb", "tscl"])
def test_mixers(client: Client, run_id: str, mixer: str) -> None:
    more = {"proportions": [3, 1]} if mixer == "static" else {"floor": 0.05}
    config = block("mix", None, (mixer, more), domains=["math", "code"])
    run = mounted(client, run_id, config)
    domain = np.array(["math"] * 4 + ["code"] * 4, dtype=object)
    posted(run, 1, {**fields(), "domain": domain})
    result = run.weights(1, timeout=20.0)
    (pipeline,) = result.pipelines.values()
    assert pipeline.proportions is not None
    shares = np.array(list(pipeline.proportions.values()))
    assert list(pipeline.proportions) == ["math", "code"]
    assert shares.sum() == pytest.approx(1)
    if mixer == "static":
        assert shares == pytest.approx([0.75, 0.25])
    if mixer == "reward_gap":
        # Means 1/2 and 3/4 at temperature 1: the gap decides, then the floor; the domain solved less gets more.
        assert shares[0] > shares[1] > 0.05
    # A mixer weighs nothing.
    assert result.weights.size == 0
    assert result.rollout_is_weights(MASK).tolist() == MASK.astype(float).tolist()

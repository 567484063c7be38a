"""Every encoding and dtype on the way to a real worker and back: the weights say whether it read what was sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_mq import Client, Jagged
from dataflex_mq.columns.half import widen_bf16
from dataflex_mq.columns.tensor import Tensor
from dataflex_mq.protocol.codec import unpack
from dataflex_mq.redis.keys import run_keys
from helpers.fixture_f import MASK, SOFTMAX, SOFTMAX_WEIGHTS, TOKENS, block, fields
from helpers.processes import PrivateRedis
from helpers.runs import mounted, weighed
from helpers.vector_format import narrow_bf16

SUM = block("reweight", ("reward_difficulty", {"mask_reward": False}), "softmax", normalize="none")


def encodings(service: PrivateRedis, run: Any, step: int, stage: str) -> dict[str, str]:
    """What the put's header says, as Redis has it."""
    puts = run_keys(run.handle["run"]).step(run.handle["incarnation"], f"{step}.0").puts
    held = service.client().hgetall(puts)
    headers = [unpack(value) for name, value in held.items() if name.startswith(f"header:{stage}:".encode())]
    return {column["name"]: column["enc"] for header in headers for column in header["columns"]}


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max())
    return raised / raised.sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, "bf16"])
def test_floats_of_every_size(client: Client, service: PrivateRedis, run_id: str, dtype: Any) -> None:
    run = mounted(client, run_id, SOFTMAX)
    given = fields()
    exact = given["advantages"]
    if dtype == "bf16":
        words = narrow_bf16(exact)
        given["advantages"], exact = Tensor("bf16", words), widen_bf16(words)
    else:
        given["advantages"] = exact.astype(dtype)
        exact = given["advantages"]
    result = weighed(run, 1, given)
    scores = np.abs(exact[:, 0].astype(np.float64))
    np.testing.assert_allclose(result.weights, softmax(scores) * 8, rtol=1e-6)
    assert encodings(service, run, 1, "post_advantage") == {"advantages": "row", "response_mask": "lengths"}


@pytest.mark.parametrize("dtype", [np.bool_, np.int64, np.int32, np.int8, np.uint8, np.float32, np.float64, np.float16])
def test_masks_of_every_dtype_prefix_and_with_holes(
    client: Client, service: PrivateRedis, run_id: str, dtype: Any
) -> None:
    run = mounted(client, run_id, TOKENS)
    rng = np.random.default_rng(3)
    probabilities = rng.uniform(0.1, 1, (6, 64))
    log_probs = np.log(probabilities).astype(np.float32)
    prefix = np.arange(64) < np.array([64, 3, 0, 17, 1, 40])[:, None]
    holes = prefix & ~((np.arange(64) >= 5) & (np.arange(64) < 9))
    often = prefix & (np.arange(64) % 2 == 0)
    for step, (mask, enc) in enumerate([(prefix, "lengths"), (holes, "runs"), (often, None)], 1):
        result = weighed(run, step, {"old_log_probs": log_probs, "response_mask": mask.astype(dtype)})
        raw = 0.5 + 0.5 * probabilities[mask]
        np.testing.assert_allclose(result.weights[mask], raw / raw.mean(), rtol=1e-5)
        assert not result.weights[~mask].any()
        found = encodings(service, run, step, "post_advantage")["response_mask"]
        assert found in (enc, "dense", "runs") if enc is None else found == enc


def test_last_sparse_and_dense_rewards(client: Client, service: PrivateRedis, run_id: str) -> None:
    run = mounted(client, run_id, SUM)
    rng = np.random.default_rng(5)
    last, sparse = np.zeros((3, 64), np.float32), np.zeros((3, 64), np.float32)
    last[[0, 1, 2], [63, 10, 30]] = [1, 2, 3]
    sparse[[0, 0, 1, 2], [5, 40, 9, 63]] = [1, 0.5, 2, -1]
    lengths = np.array([64, 11, 31])
    cases = {"last": last, "sparse": sparse, "dense": rng.random((3, 64), np.float32)}
    for step, (enc, rewards) in enumerate(cases.items(), 1):
        known = lengths if enc == "last" else None
        mask = np.arange(64) < (lengths if enc == "last" else np.full(3, 64))[:, None]
        result = weighed(run, step, {"rm_scores": rewards, "response_mask": mask}, lengths=known)
        np.testing.assert_allclose(result.weights, softmax(rewards.sum(axis=1).astype(np.float64)) * 3, rtol=1e-5)
        assert encodings(service, run, step, "post_reward")["rm_scores"] == enc


def test_jagged_input_in_every_form_gives_the_padded_answer(client: Client, service: PrivateRedis, run_id: str) -> None:
    padded = fields()
    rows = {
        name: [row[inside] for row, inside in zip(padded[name], MASK, strict=True)] for name in padded if name != "uid"
    }
    flat = {
        name: Jagged(
            "i64" if name == "response_mask" else "f32", np.concatenate(pieces), MASK.sum(axis=1).astype(np.int32), 4
        )
        for name, pieces in rows.items()
    }
    lists = {name: [row.tolist() for row in pieces] for name, pieces in rows.items()}
    run = mounted(client, run_id, {"pipelines": {"tokens": TOKENS, "rows": SOFTMAX}})
    expected = weighed(run, 1, padded).weights
    for step, given in enumerate([rows, flat, lists], 2):
        assert weighed(run, step, given).weights.tolist() == expected.tolist()
        sent = encodings(service, run, step, "post_advantage")
        assert (sent["advantages"], sent["response_mask"]) == ("row", "lengths")


def test_long_rows_among_short_ones_travel_without_padding(client: Client, service: PrivateRedis, run_id: str) -> None:
    run = mounted(client, run_id, TOKENS)
    probabilities = [np.linspace(0.2, 0.9, n) for n in (300, 2, 1, 7)]
    mask = [np.ones(len(row), dtype=bool) for row in probabilities]
    given = {"old_log_probs": [np.log(row).astype(np.float32) for row in probabilities], "response_mask": mask}
    result = weighed(run, 1, given)
    raw = 0.5 + 0.5 * np.concatenate(probabilities)
    assert result.weights.shape == (4, 300)
    np.testing.assert_allclose(
        result.weights[np.arange(300) < np.array([[300], [2], [1], [7]])], raw / raw.mean(), rtol=1e-5
    )
    assert encodings(service, run, 1, "post_advantage")["old_log_probs"] == "jagged"


def test_a_put_of_many_chunks_arrives_and_the_arrays_may_be_reused(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, TOKENS)
    rng = np.random.default_rng(11)
    log_probs = np.log(rng.uniform(0.2, 1, (600, 2048))).astype(np.float32)
    mask = np.ones(log_probs.shape, dtype=bool)
    raw = 0.5 + 0.5 * np.exp(log_probs.astype(np.float64))
    run.put(1, "post_advantage", {"old_log_probs": log_probs, "response_mask": mask})
    log_probs[:] = -99
    result = run.weights(1, timeout=60.0)
    np.testing.assert_allclose(result.weights, raw / raw.mean(), rtol=1e-4)


def test_a_uniform_result_is_float32(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    same = {"advantages": np.ones((3, 2), np.float32), "response_mask": np.ones((3, 2))}
    weights = weighed(run, 1, same).weights
    assert weights.dtype == np.float32
    assert weights.tolist() == [1, 1, 1]


def test_a_mask_that_was_put_once_serves_later_puts(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    given = fields()
    run.put(1, "post_advantage", {"response_mask": given["response_mask"]})
    run.put(1, "post_advantage", {"advantages": given["advantages"]})
    np.testing.assert_allclose(run.weights(1, timeout=20.0).weights, SOFTMAX_WEIGHTS, atol=1e-6)

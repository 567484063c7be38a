"""The loss's tensor, as the trainer's mask is: padded or nested, its dtype and device; and what the loss does with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from dataflex_mq.client.compose import RowWeights, TokenWeights
from dataflex_mq.client.outcomes import PipelineResult
from dataflex_mq.client.step_result import StepResult
from dataflex_mq.columns.mask import mask_of
from dataflex_mq.columns.tensor import Tensor
from dataflex_mq.errors import DataflexError

MASK = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
LENGTHS = [4, 2, 1]


def result(token: bool, **composition: Any) -> StepResult:
    column = mask_of("response_mask", Tensor("bool", MASK.view(np.uint8)), 4)
    values = np.array([2, 0.5, 3, 0.25], dtype=np.float32)
    weights = TokenWeights(np.array([0, 3, 4, 4]), values) if token else RowWeights(values[:3])
    header = {"stage": "post_advantage", "pipeline": "main"}
    pipeline = PipelineResult("main", header, weights, column, None, None)
    handle = {"composition": {"combine": "multiply", "rescale": "none", **composition}}
    return StepResult(handle, 1, 0, 0.0, [pipeline])


def nested(padded: Any) -> torch.Tensor:
    rows = [torch.as_tensor(row)[:length] for row, length in zip(padded, LENGTHS, strict=True)]
    return torch.nested.nested_tensor(rows, layout=torch.jagged)


@pytest.mark.parametrize("token", [False, True])
def test_padded_torch_is_as_numpy(token: bool) -> None:
    step = result(token)
    expected = step.rollout_is_weights(MASK)
    for dtype in (torch.bool, torch.int64, torch.float32, torch.bfloat16):
        found = step.rollout_is_weights(torch.from_numpy(MASK).to(dtype))
        assert found.dtype == torch.float32
        assert found.numpy().tobytes() == expected.tobytes()
    assert step.rollout_is_weights(torch.from_numpy(MASK), dtype=torch.bfloat16).dtype == torch.bfloat16
    assert step.rollout_is_weights(MASK, dtype=np.float64).dtype == np.float64
    assert step.rollout_is_weights(torch.from_numpy(MASK), device="meta").device.type == "meta"


@pytest.mark.parametrize("token", [False, True])
def test_nested_has_the_masks_own_rows(token: bool) -> None:
    step = result(token)
    mask = nested(MASK.astype(np.int64))
    found = step.rollout_is_weights(mask)
    assert found.is_nested
    expected = step.rollout_is_weights(MASK)
    for row, padded, length in zip(found.unbind(), expected, LENGTHS, strict=True):
        assert row.tolist() == padded[:length].tolist()
    # The same ragged structure: torch lets the two be multiplied.
    assert (found * mask).is_nested


def test_existing_weights_multiply_where_the_mask_is_and_nowhere_else() -> None:
    step = result(token=False)
    existing = np.full((3, 4), np.nan, dtype=np.float32)
    existing[MASK] = [2, 4, 8, 16]
    expected = [[4, 8, 0, 16], [8, 0, 0, 0], [0, 0, 0, 0]]
    assert step.rollout_is_weights(MASK, existing).tolist() == expected
    assert step.rollout_is_weights(torch.from_numpy(MASK), torch.from_numpy(existing)).tolist() == expected
    found = step.rollout_is_weights(nested(MASK.astype(np.int64)), nested(existing))
    assert found.values().tolist() == [4, 8, 0, 16, 8, 0, 0]
    replaced = result(token=False, combine="replace")
    assert replaced.rollout_is_weights(MASK, existing)[0].tolist() == [2, 2, 0, 2]


def test_existing_of_another_form_is_refused() -> None:
    step = result(token=False)
    for mask, existing in (
        (MASK, np.ones((3, 3))),
        (torch.from_numpy(MASK), torch.ones(3, 3)),
        (nested(MASK.astype(np.int64)), torch.ones(3, 4)),
        (nested(MASK.astype(np.int64)), torch.nested.nested_tensor([torch.ones(1)] * 3, layout=torch.jagged)),
    ):
        with pytest.raises(DataflexError, match="existing rollout_is_weights"):
            step.rollout_is_weights(mask, existing)
    with pytest.raises(DataflexError, match="no token dimension"):
        step.rollout_is_weights(torch.ones(3))


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf"), 3e38])
def test_an_existing_weight_that_is_none_is_refused_with_its_place(wrong: float) -> None:
    step = result(token=False)
    existing = torch.ones(3, 4)
    existing[0, 3] = wrong
    for mask, held in (
        (torch.from_numpy(MASK), existing),
        (nested(MASK.astype(np.int64)), nested(existing)),
        (MASK, existing.numpy()),
    ):
        with pytest.raises(DataflexError, match=r"row 0, column 3: the existing rollout_is_weights"):
            step.rollout_is_weights(mask, held)


def test_a_dropped_row_has_no_gradient() -> None:
    step = result(token=False)
    drop = RowWeights(np.array([2, 0, 1], dtype=np.float32))
    pipeline = next(iter(step.pipelines.values()))
    kept = PipelineResult("main", pipeline.header, drop, pipeline.mask, None, None)
    dropped = StepResult({"composition": {"combine": "multiply", "rescale": "none"}}, 1, 0, 0.0, [kept])
    losses = torch.rand(3, 4, requires_grad=True)
    (losses * dropped.rollout_is_weights(torch.from_numpy(MASK))).sum().backward()
    assert losses.grad is not None
    assert losses.grad.tolist() == [[2, 2, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "named", [{"dtype": torch.int64}, {"dtype": "bfloat16"}, {"dtype": torch.bool}, {"device": "junk"}]
)
def test_what_weights_cannot_be_made_of_is_refused(named: dict[str, Any]) -> None:
    """As an integer every weight below 1 would be 0."""
    step = result(token=False)
    for mask in (torch.from_numpy(MASK), nested(MASK.astype(np.int64))):
        with pytest.raises(DataflexError, match=next(iter(named))):
            step.rollout_is_weights(mask, **named)
    with pytest.raises(DataflexError, match="complex"):
        step.rollout_is_weights(torch.from_numpy(MASK), torch.ones(3, 4, dtype=torch.complex64))

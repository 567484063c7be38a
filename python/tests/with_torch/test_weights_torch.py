"""torch in, torch out, through the real broker and worker."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dataflex_mq import Client, DataflexError
from helpers.fixture_f import LENGTHS, MASK, SOFTMAX, SOFTMAX_WEIGHTS, TOKEN_WEIGHTS, TOKENS, fields
from helpers.runs import mounted, weighed


def test_padded_tensors(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, SOFTMAX)
    given = {name: torch.from_numpy(value) for name, value in fields().items() if name != "uid"}
    result = weighed(run, 1, given)
    found = result.rollout_is_weights(given["response_mask"])
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), np.where(MASK, np.array(SOFTMAX_WEIGHTS)[:, None], 0), atol=1e-6)
    of_rows = result.torch_weights()
    assert (of_rows.dtype, of_rows.device.type) == (torch.float32, "cpu")
    np.testing.assert_array_equal(of_rows.numpy(), result.weights)
    assert result.torch_weights(dtype=torch.bfloat16, device="meta").shape == (len(SOFTMAX_WEIGHTS),)
    # The tensor is the trainer's own: what it does to it changes no result.
    of_rows.zero_()
    np.testing.assert_allclose(result.weights, SOFTMAX_WEIGHTS, atol=1e-6)
    with pytest.raises(DataflexError, match="floating-point"):
        result.torch_weights(dtype=torch.int64)
    half = weighed(run, 2, {**given, "advantages": given["advantages"].bfloat16()})
    np.testing.assert_allclose(half.weights, SOFTMAX_WEIGHTS, atol=5e-3)


def test_nested_tensors_as_a_trainer_of_verl_holds_them(client: Client, run_id: str) -> None:
    run = mounted(client, run_id, TOKENS)

    def nested(name: str) -> torch.Tensor:
        rows = [torch.from_numpy(row[:length].copy()) for row, length in zip(fields()[name], LENGTHS, strict=True)]
        return torch.nested.nested_tensor(rows, layout=torch.jagged)

    given = {name: nested(name) for name in ("old_log_probs", "response_mask")}
    result = weighed(run, 1, given)
    found = result.rollout_is_weights(given["response_mask"])
    assert found.offsets().tolist() == given["response_mask"].offsets().tolist()
    np.testing.assert_allclose(found.values().numpy(), TOKEN_WEIGHTS, atol=1e-6)
    # Rejection has cleared a row since.
    values = given["response_mask"].values().clone()
    values[:4] = 0
    mask = torch.nested.nested_tensor_from_jagged(values, offsets=given["response_mask"].offsets())
    np.testing.assert_allclose(result.rollout_is_weights(mask).values().numpy(), [0] * 4 + TOKEN_WEIGHTS[4:], atol=1e-6)

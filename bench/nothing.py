"""Scorers for bench/python-host.ts. As a program: milliseconds of the masked mean in this process, as JSON."""

import json
import sys
import time

import torch

from dataflex_mq.components import Batch, Context, scorer


@scorer(requires=["response_mask"], timing="post_reward")
def py_nothing(batch: Batch, ctx: Context) -> torch.Tensor:
    """Scores every row 0."""
    return torch.zeros(len(batch))


@scorer(requires=["old_log_probs"], granularity="token")
def py_token_prob(batch: Batch, ctx: Context) -> torch.Tensor:
    """What token_prob gives, in torch."""
    return batch.jagged("old_log_probs").values.exp_()


@scorer(requires=["old_log_probs"])
def py_touch(batch: Batch, ctx: Context) -> torch.Tensor:
    """Takes the matrix as a tensor and reads nothing of it."""
    return torch.zeros(batch.padded("old_log_probs").shape[0])


@scorer(requires=["old_log_probs"])
def py_mean(batch: Batch, ctx: Context) -> torch.Tensor:
    """Mean over the mask."""
    return masked_mean(batch.padded("old_log_probs"), batch.mask)


def masked_mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (values * mask).sum(-1) / mask.sum(-1)


if __name__ == "__main__":
    values, mask = torch.rand(8192, 4096), torch.ones(8192, 4096, dtype=torch.bool)
    times = []
    for _ in range(int(sys.argv[1])):
        start = time.perf_counter()
        masked_mean(values, mask)
        times.append((time.perf_counter() - start) * 1000)
    print(json.dumps(times))

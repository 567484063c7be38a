"""
The trainer's wall time of a GRPO step, waiting included, beside PyTorch doing the same in the trainer's process. Alternating, medians.
Usage: DFX_REDIS_URL=… python bench/step.py [rows] [width]   (a broker and a worker run there, e.g. `dataflex-mq all`)
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from dataflex_mq import Client

ROUNDS = 15


def in_process(advantages: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """advantage_magnitude → softmax with mean one over rows, spread over the tokens. (rows, L) → (rows, L)"""
    live = mask.to(torch.float32)
    scores = (advantages.abs() * live).sum(-1) / live.sum(-1).clamp(min=1)
    weights = torch.softmax(scores, 0)
    return (weights / weights.mean())[:, None] * live


def main(rows: int, width: int) -> None:
    torch.set_num_threads(2)
    torch.manual_seed(0)
    lengths = torch.randint(width // 4, width + 1, (rows, 1))
    mask = (torch.arange(width) < lengths).to(torch.int64)
    advantages = torch.randn(rows, 1) * mask
    block = {"mechanism": "reweight", "scorer": {"name": "advantage_magnitude"}, "actuator": {"name": "softmax"}}
    with Client() as client, client.mount(f"bench-{os.getpid()}", block, adv_estimator="grpo") as run:

        def through(step: int) -> torch.Tensor:
            run.put(step, "post_advantage", {"advantages": advantages, "response_mask": mask})
            weights = run.weights(step).rollout_is_weights(mask)
            run.release(step)
            return weights

        torch.testing.assert_close(through(0), in_process(advantages, mask))
        candidates: dict[str, Callable[[int], Any]] = {
            "PyTorch in the trainer": lambda _: in_process(advantages, mask),
            "through dataflex-mq": through,
        }
        times: dict[str, list[float]] = {name: [] for name in candidates}
        for step in range(1, ROUNDS + 1):
            for name, work in candidates.items():
                began = time.perf_counter()
                work(step)
                times[name].append((time.perf_counter() - began) * 1000)
    print(f"{rows} × {width}, {ROUNDS} rounds, alternating")
    medians = {name: sorted(spent)[ROUNDS // 2] for name, spent in times.items()}
    for name, median in medians.items():
        print(f"  {name:24} {median:8.1f} ms   {median / medians['PyTorch in the trainer']:5.2f} ×")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*(given if len(given) == 2 else (1024, 4096)))

"""
Weights for asynchronous training: responses of an older policy count less, and too old ones not at all.

The trainer posts `staleness`, the number of updates since each response was sampled, one per row:
    run.put(step, "post_reward", {"staleness": staleness, "response_mask": mask})

dataflex:
  mechanism: reweight
  scorer: {name: column, params: {name: staleness}}
  actuator: {name: freshness, params: {half_life: 2, limit: 8}}
  normalize: none
"""

import torch

from dataflex_mq.components import Batch, Context, reweighter


@reweighter()
def freshness(
    scores: torch.Tensor, batch: Batch, ctx: Context, *, half_life: float = 2.0, limit: float = 8.0
) -> torch.Tensor:
    """0.5 ** (staleness / half_life); 0 above `limit`. `ctx.warn` says so if that loses more than half of the rows."""
    weights = torch.pow(0.5, scores.clamp(min=0) / half_life)
    lost = scores > limit
    if lost.double().mean() > 0.5:
        ctx.warn(
            "more than half of the rows are too old to train on: raise limit, or update less often between rollouts"
        )
    ctx.metric("too_old", float(lost.sum()))
    return torch.where(lost, torch.zeros_like(weights), weights)

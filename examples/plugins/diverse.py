"""
Keeps responses that are good and unlike each other: of each prompt's rows a share, one after the other, each the best by its score plus
its distance to what was kept before it. Ten copies of one solution teach what one of them does.

The trainer posts an embedding of each response, of any width, for instance the mean of its last hidden states:
    run.put(step, "post_reward", {"rm_scores": scores, "features": embeddings, "uid": uid, "response_mask": mask})

dataflex:
  mechanism: select
  scorer: {name: column, params: {name: rm_scores, reduce: sum}}
  actuator: {name: diverse, params: {fraction: 0.5, novelty: 0.5}}
"""

import math

import torch

from dataflex_mq.components import Batch, Context, selector


@selector(requires=[{"name": "features", "kind": "features"}, "uid"], needs_groups=True)
def diverse(
    scores: torch.Tensor, batch: Batch, ctx: Context, *, fraction: float = 0.5, novelty: float = 0.5
) -> list[int]:
    """
    Of each group ⌈fraction × rows⌉ rows. A distance is 1 − cosine, in [0, 2]; `novelty` is what it counts beside the score. Ties go to the
    earlier row. Selection by marginal relevance: Carbonell and Goldstein, SIGIR 1998, with distances in the place of similarities.
    """
    vectors = torch.nn.functional.normalize(batch.features("features").double(), dim=-1)
    kept: list[int] = []
    for members in batch.groups.members():
        rows = torch.tensor(members, device=vectors.device)
        chosen = pick(scores[rows].double(), vectors[rows], math.ceil(fraction * len(members)), novelty)
        kept += [members[i] for i in chosen]
    return sorted(kept)


def pick(scores: torch.Tensor, vectors: torch.Tensor, count: int, novelty: float) -> list[int]:
    """The rows that are kept, in the order in which they were chosen; the first has the highest score."""
    distance = 1 - vectors @ vectors.T
    nearest = torch.zeros_like(scores)
    free = torch.ones_like(scores, dtype=torch.bool)
    chosen: list[int] = []
    for _ in range(count):
        value = torch.where(free, scores + novelty * nearest, -math.inf)
        best = int((value == value.max()).nonzero()[0])
        free[best] = False
        nearest = distance[best] if not chosen else torch.minimum(nearest, distance[best])
        chosen.append(best)
    return chosen

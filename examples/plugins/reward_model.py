"""
Scores by a reward model on the worker's device: responses are sorted by length and scored in batches of bounded size.

scorer: {name: reward_model, params: {load: "my_model:load", checkpoint: /models/rm}}

`load(checkpoint, device)` of your own module returns a callable that takes token ids and mask, (n, L) each on the device, and returns (n,)
rewards. With transformers:

    def load(checkpoint, device):
        model = AutoModelForSequenceClassification.from_pretrained(checkpoint, torch_dtype=torch.bfloat16).to(device).eval()
        return lambda ids, mask: model(input_ids=ids, attention_mask=mask).logits[:, 0]
"""

import importlib

import torch

from dataflex_mq.components import Batch, Context, scorer


@scorer(requires=[{"name": "responses", "scope": "response"}], timing="post_reward", rows="independent")
class RewardModel:
    """Reward of a model of one's own. `tokens_per_batch` bounds the memory that one forward pass takes."""

    def __init__(self, load: str, checkpoint: str = "", tokens_per_batch: int = 65_536) -> None:
        self.load, self.checkpoint, self.tokens_per_batch = load, checkpoint, tokens_per_batch

    def setup(self, device: str) -> None:
        module, _, function = self.load.partition(":")
        self.model = getattr(importlib.import_module(module), function)(self.checkpoint, device)

    @torch.no_grad()
    def score(self, batch: Batch, ctx: Context) -> torch.Tensor:
        ids = batch.padded("responses").long()
        places = torch.arange(1, batch.width + 1, device=ctx.device)
        # A response ends at its last token that counts: trainers need not tell where padding begins.
        ends = (batch.mask * places).amax(-1)
        lengths = ends.tolist()
        rewards = torch.zeros(len(batch), device=ctx.device)
        for rows in self.batches(sorted(range(len(batch)), key=lengths.__getitem__), lengths):
            width = lengths[rows[-1]]
            mask = places[:width] <= ends[rows][:, None]
            rewards[rows] = self.model(ids[rows, :width] * mask, mask.long()).float()
            ctx.metric("forward_passes", 1)
        return rewards

    def batches(self, order: list[int], lengths: list[int]) -> list[list[int]]:
        """Rows in ascending length; a batch holds rows × its longest row at most `tokens_per_batch` tokens, or one row."""
        found: list[list[int]] = []
        for row in order:
            if found and (len(found[-1]) + 1) * lengths[row] <= self.tokens_per_batch:
                found[-1].append(row)
            else:
                found.append([row])
        return found

"""
A difficulty predictor that was learnt from earlier rollouts: how likely is this response to be correct, judging by how it was written?

Learn it once:    python learned_difficulty.py rollouts.npz difficulty.pt
Use it:           dataflex-mq worker --plugin learned_difficulty.py
                  scorer: {name: learned_difficulty, params: {checkpoint: /models/difficulty.pt}}

`rollouts.npz` holds `log_probs` and `mask` (rows, L), and `solved` (rows,), 0 or 1.
"""

import sys
from typing import Literal

import numpy as np
import torch

from dataflex_mq.components import Batch, Context, scorer


def features_of(total: torch.Tensor, squares: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    """(n, 3): mean and deviation of a row's log-probs, and the logarithm of its length."""
    count = count.clamp(min=1)
    mean = total / count
    deviation = (squares / count - mean**2).clamp(min=0).sqrt()
    return torch.stack([mean, deviation, count.log()], dim=-1).float()


def network() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))


@scorer(requires=["old_log_probs"], rows="independent")
class LearnedDifficulty:
    """Predicted difficulty: 1 − p (`difficulty`), or 4 p (1 − p), which is highest where half of the responses succeed (`learnability`)."""

    def __init__(self, checkpoint: str, measure: Literal["difficulty", "learnability"] = "learnability") -> None:
        self.checkpoint, self.measure = checkpoint, measure

    def setup(self, device: str) -> None:
        saved = torch.load(self.checkpoint, map_location=device, weights_only=True)
        self.model = network().to(device).eval()
        self.model.load_state_dict(saved["model"])
        self.mean, self.scale = saved["mean"], saved["scale"]

    @torch.no_grad()
    def score(self, batch: Batch, ctx: Context) -> torch.Tensor:
        tokens = batch.jagged("old_log_probs")
        total = tokens.sum()
        tokens.values.square_()
        features = features_of(total, tokens.sum(), tokens.lengths.double())
        solved = self.model((features - self.mean) / self.scale)[:, 0].sigmoid()
        ctx.metric("predicted_solve_rate", float(solved.mean()) if ctx.device != "meta" else 0.0)
        return 1 - solved if self.measure == "difficulty" else 4 * solved * (1 - solved)


def learn(log_probs: np.ndarray, mask: np.ndarray, solved: np.ndarray, steps: int = 500) -> dict:
    """The checkpoint: weights, and the mean and scale that features are brought to."""
    values, kept = torch.tensor(log_probs, dtype=torch.float64), torch.tensor(mask, dtype=torch.float64)
    features = features_of((values * kept).sum(-1), (values**2 * kept).sum(-1), kept.sum(-1))
    mean, scale = features.mean(0), features.std(0).clamp(min=1e-3)
    torch.manual_seed(0)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    target = torch.tensor(solved, dtype=torch.float32)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model((features - mean) / scale)[:, 0], target).backward()
        optimizer.step()
    return {"model": model.state_dict(), "mean": mean, "scale": scale}


if __name__ == "__main__":
    rollouts = np.load(sys.argv[1])
    torch.save(learn(rollouts["log_probs"], rollouts["mask"], rollouts["solved"]), sys.argv[2])

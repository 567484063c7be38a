"""A step as padded tensors, and the conventions that all formulas share. PyTorch on the CPU, float64."""

from __future__ import annotations

import torch
from torch import Tensor

F64 = torch.float64


def f32(x: Tensor | float) -> Tensor:
    """Rounded to float32: both sides of every comparison are, as scores.float() does."""
    return torch.as_tensor(x, dtype=F64).to(torch.float32).to(F64)


class Step:
    """rows N, width T. What stands outside the mask is garbage on purpose: nothing may read it."""

    def __init__(self, data: dict) -> None:
        self.mask = torch.tensor(data["mask"], dtype=torch.bool)
        self.lengths = torch.tensor(data["lengths"], dtype=F64)
        self.padding = torch.tensor(data["is_padding"], dtype=torch.bool)
        self.uid: list[str] = data["uid"]
        self.session: list[str] | None = data.get("session")
        self.fields = {name: torch.tensor(matrix, dtype=F64) for name, matrix in data["fields"].items()}
        self.columns = {name: torch.tensor(values, dtype=F64) for name, values in data["columns"].items()}
        positions = torch.arange(self.mask.shape[1])
        self.response = positions[None, :] < self.lengths[:, None]
        self.live = ~self.padding & self.mask.any(dim=1)
        self.tokens = self.mask.sum(dim=1).to(F64)

    def field(self, name: str) -> Tensor:
        """Values on the row's own tokens, 0 elsewhere."""
        scope = self.response if name == "rm_scores" else self.mask
        return torch.where(scope, self.fields[name], torch.zeros((), dtype=F64))

    def row_sum(self, values: Tensor) -> Tensor:
        return torch.where(self.mask, values, torch.zeros((), dtype=F64)).sum(dim=1)

    def row_mean(self, values: Tensor) -> Tensor:
        return self.row_sum(values) / self.tokens.clamp(min=1)

    def reward(self, mask_reward: bool = True) -> Tensor:
        scores = self.field("rm_scores")
        return (scores * self.mask if mask_reward else scores).sum(dim=1)

    def groups(self) -> list[Tensor]:
        """Live rows of each uid, ascending."""
        keys = sorted({uid for uid, live in zip(self.uid, self.live.tolist()) if live})
        return [torch.tensor([i for i, uid in enumerate(self.uid) if uid == key and self.live[i]]) for key in keys]

    def counted(self, rows: Tensor) -> Tensor:
        """Of each session of a group only the last row."""
        if self.session is None:
            return rows
        last = {self.session[i]: i for i in rows.tolist()}
        return torch.tensor(sorted(last.values()))

    def spread(self, values: Tensor, statistic) -> Tensor:
        """A statistic of each group's counted rows, at every live row of the group."""
        out = torch.zeros(len(self.uid), dtype=F64)
        for rows in self.groups():
            out[rows] = statistic(values[self.counted(rows)])
        return out

    def live_tokens(self) -> Tensor:
        return self.mask & self.live[:, None]


def ranked(values: Tensor, largest: bool = True) -> Tensor:
    """Places in order of value; equal values (as float32) by place. torch.topk promises no such order."""
    return torch.sort(f32(values), descending=largest, stable=True).indices


def share_of(fraction: float, n: int) -> int:
    """Python rounds halves to even."""
    return max(1, round(fraction * n))

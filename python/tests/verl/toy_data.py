"""A data set that verl loads by its path."""

from __future__ import annotations

from typing import Any

from torch.utils.data import Dataset


class ToyDataset(Dataset):
    """16 prompts of two domains, "easy" and "hard", a quarter of them hard."""

    def __init__(self, **_: Any) -> None:
        self.rows = [{"domain": "hard" if i % 4 == 0 else "easy", "index": i} for i in range(16)]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {"raw_prompt": [{"role": "user", "content": str(i)}], **self.rows[i]}

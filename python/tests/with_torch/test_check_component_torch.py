"""check_component on components in torch: devices, and classes written for DataFlex-RL."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dataflex_mq.components import Batch, Context, scorer
from dataflex_mq.components.declaration import DECLARED
from dataflex_mq.testing import ComponentError, check_component

own = scorer("mine", requires=["old_log_probs"], rows="independent")


@pytest.fixture(autouse=True)
def _nothing_declared():
    DECLARED.take()
    yield
    DECLARED.take()


def failures_of(component: Any, **options: Any) -> str:
    with pytest.raises(ComponentError) as caught:
        check_component(component, **options)
    return "\n".join(caught.value.failures)


def test_a_sound_component_with_a_model() -> None:
    @own
    class Mine:
        def setup(self, device: str) -> None:
            torch.manual_seed(0)
            self.model = torch.nn.Linear(2, 1).to(device).eval()

        @torch.no_grad()
        def score(self, batch: Batch, ctx: Context) -> torch.Tensor:
            tokens = batch.jagged("old_log_probs")
            features = torch.stack([tokens.mean(), batch.lengths.to(torch.float64)], dim=-1).float()
            return self.model(features)[:, 0]

    check_component(Mine)


def cpu_tensor(batch: Batch, ctx: Context) -> Any:
    return batch.padded("old_log_probs").sum(-1) * torch.ones(len(batch))


def cpu_mask(batch: Batch, ctx: Context) -> Any:
    values = batch.padded("old_log_probs")
    return torch.where(values < -1, values, torch.zeros(values.shape)).sum(-1)


def to_numpy(batch: Batch, ctx: Context) -> Any:
    return np.exp(batch.padded("old_log_probs").numpy()).sum(-1) * 0 + 1.0


class ModelLeftBehind:
    def setup(self, device: str) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Linear(1, 1)

    @torch.no_grad()
    def score(self, batch: Batch, ctx: Context) -> torch.Tensor:
        return self.model(batch.jagged("old_log_probs").mean().float()[:, None])[:, 0]


@pytest.mark.parametrize("component", [cpu_tensor, cpu_mask, to_numpy, ModelLeftBehind])
def test_tensors_left_on_the_cpu_are_found_without_a_gpu(component: Callable[..., Any]) -> None:
    text = failures_of(own(component))
    assert "device, two groups of four: on a GPU it raises " in text
    assert "device=ctx.device" in text
    assert len(text.splitlines()) == 1


def test_what_needs_numbers_is_not_judged_by_devices() -> None:
    @own
    def mine(batch: Batch, ctx: Context) -> torch.Tensor:
        return torch.tensor([float(row.sum()) for row in batch.padded("old_log_probs")])

    check_component(mine)


def test_unseeded_torch() -> None:
    @own
    def mine(batch: Batch, ctx: Context) -> torch.Tensor:
        return batch.jagged("old_log_probs").mean() + torch.rand(len(batch), device=ctx.device)

    assert "draw random numbers from ctx.random or ctx.generator" in failures_of(mine)


def test_half_precision() -> None:
    @own
    def mine(batch: Batch, ctx: Context) -> torch.Tensor:
        return batch.jagged("old_log_probs").mean().bfloat16()

    assert "precision, two groups of four: it returns torch.bfloat16" in failures_of(mine)


ORIGINAL = """
    import torch
    from .core.registry import register_reweighter, register_scorer
    from .core.scorer import Scorer
    from dataflex_verl.core.actuator import Reweighter

    @register_scorer("mean_surprise")
    class MeanSurprise(Scorer):
        requires = ["old_log_probs", "response_mask"]
        timing = "post_advantage"

        def __init__(self, by_width: bool = False, **kwargs):
            super().__init__(**kwargs)
            self.by_width = by_width

        def score(self, batch, step_id, **ctx):
            mask = batch.batch["response_mask"]
            surprise = -batch.batch["old_log_probs"] * mask
            return surprise.mean(-1) if self.by_width else surprise.sum(-1) / mask.sum(-1)

    @register_reweighter("tempered")
    class Tempered(Reweighter):
        def act(self, scores, batch, **ctx):
            return torch.softmax(scores, 0) * len(scores)
    """


def test_classes_of_the_original_form(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(textwrap.dedent(ORIGINAL))
    check_component(file, "mean_surprise")
    check_component(file, "tempered")
    assert "padding, two groups of four: padded by 3 more tokens" in failures_of(
        file, name="mean_surprise", params={"by_width": True}
    )

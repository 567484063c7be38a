"""Classes in the form of the original framework, some under names that built-ins have."""

import numpy as np
import torch

from dataflex_verl.core.actuator import Mixer, Reweighter, Selector
from dataflex_verl.core.registry import register_mixer, register_reweighter, register_selector

from .core.registry import register_scorer
from .core.scorer import Scorer


@register_scorer("loudness")
class Loudness(Scorer):
    requires = ["advantages", "response_mask"]
    timing = "post_advantage"
    granularity = "prompt"

    def __init__(self, power: float = 1.0, answer="tensor", **kwargs):
        super().__init__(**kwargs)
        self.power, self.answer = power, answer

    def score(self, batch, step_id, **ctx):
        assert "uid" not in batch.batch and list(batch.batch.keys()) == ["advantages", "response_mask"]
        adv = batch.batch["advantages"]
        mask = batch.batch.get("response_mask")
        assert mask.dtype == torch.int64 and adv.shape == mask.shape and batch.batch.batch_size[0] == len(batch)
        found = ((adv.abs() * mask).sum(-1) / mask.sum(-1).clamp(min=1)) ** self.power
        match self.answer:
            case "grad":
                return found.double().requires_grad_()
            case "half":
                return found.to(torch.bfloat16)
            case "array":
                return found.numpy()
            case "list":
                return found.tolist()
            case "column":
                return found[:, None]
        return found


@register_scorer("group_solve_rate")
class PassRate(Scorer):
    requires = ["rm_scores", "response_mask", "uid"]
    timing = "post_reward"
    needs_groups = True

    def __init__(self, success_threshold=0.5, **kw):
        super().__init__(**kw)
        self.success_threshold = success_threshold

    def score(self, batch, step_id, **ctx):
        rewards = (batch.batch["rm_scores"] * batch.batch["response_mask"]).sum(-1)
        passed = (rewards > self.success_threshold).float()
        uid = np.asarray(batch.non_tensor_batch["uid"])
        assert uid.dtype == object
        return torch.stack([passed[np.flatnonzero(uid == one)].mean() for one in uid])


@register_scorer("token_prob")
class Confidence(Scorer):
    requires = ["old_log_probs", "response_mask"]
    granularity = "token"

    def score(self, batch, step_id, **ctx):
        return batch.batch["old_log_probs"].exp()


@register_reweighter("softmax")
class Tempered(Reweighter):
    def __init__(self, temperature: float = 1.0, **kwargs):
        super().__init__(**kwargs)
        self.temperature = temperature

    def act(self, scores, batch, **ctx):
        assert self.scorer.granularity in ("prompt", "response", "token")
        return torch.softmax(scores.float().flatten() / self.temperature, 0) * scores.numel()


@register_reweighter("advantage_reweight")
class Blend(Reweighter):
    def __init__(self, alpha=0.5, **kwargs):
        super().__init__(**kwargs)
        self.alpha = alpha

    def act(self, scores, batch, **ctx):
        mask = batch.batch["response_mask"].to(scores.dtype)
        weights = self.alpha * scores + 1 - self.alpha
        return weights * mask.sum() / (weights * mask).sum()


@register_selector("threshold_band")
class Between(Selector):
    def __init__(self, low: float = 0.0, high: float = 1.0, negative: bool = False, **kw):
        super().__init__(**kw)
        self.low, self.high, self.negative = low, high, negative

    def act(self, scores, batch, **ctx) -> list[int]:
        kept = torch.nonzero((scores > self.low) & (scores < self.high)).flatten().tolist()
        return [row - len(scores) for row in kept] + kept if self.negative else kept


@register_selector("first_of_group")
class FirstOfGroup(Selector):
    def act(self, scores, batch, **ctx) -> list[int]:
        uid = batch.non_tensor_batch["uid"]
        return [int(np.flatnonzero(uid == one)[0]) for one in dict.fromkeys(uid)]


@register_mixer("reward_gap")
class Behind(Mixer):
    def __init__(self, domains, temperature: float = 1.0, floor: float = 0.05, **kw):
        super().__init__(**kw)
        self.domains, self.temperature, self.floor = domains, temperature, floor

    def act(self, scores, batch, **ctx):
        means = np.array([scores.get(domain, 0.0) for domain in self.domains])
        gap = np.exp((means.max() - means) / self.temperature)
        shares = np.maximum(gap / gap.sum(), self.floor)
        return shares / shares.sum()

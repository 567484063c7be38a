"""Components of our own form over NumPy: no torch is imported for them."""

from typing import Literal

import numpy as np

from dataflex_mq.components import Batch, Context, Series, mixer, reweighter, scorer, selector


@scorer(requires=["advantages"], arrays="numpy", rows="independent")
def np_magnitude(batch: Batch, ctx: Context, *, agg: Literal["mean", "sum"] = "mean") -> np.ndarray:
    """Mean or sum of |advantage| over a row's tokens."""
    tokens = batch.jagged("advantages")
    tokens.values[:] = np.abs(tokens.values)
    ctx.metric("rows_seen", len(batch))
    return tokens.mean() if agg == "mean" else tokens.sum()


@scorer(requires=["old_log_probs"], granularity="token", arrays="numpy")
def np_confidence(batch: Batch, ctx: Context) -> np.ndarray:
    """Probability of each token."""
    return np.exp(batch.padded("old_log_probs"))


@scorer(requires=[{"name": "rm_scores", "scope": "response"}], needs_groups=True, timing="post_reward", arrays="numpy")
def np_pass_rate(batch: Batch, ctx: Context, *, success_threshold: float = 0.5) -> np.ndarray:
    """Share of each group's rewards above the threshold."""
    rewards = (batch.padded("rm_scores") * batch.mask).sum(-1)
    return batch.groups.mean(rewards > success_threshold)


@reweighter(accepts="row", arrays="numpy")
def np_softmax(scores: np.ndarray, batch: Batch, ctx: Context, *, temperature: float = 1.0) -> np.ndarray:
    """n · softmax(s / T)."""
    if temperature <= 0:
        raise ValueError(f"temperature is {temperature}, it must be above 0")
    raw = np.exp((scores - scores.max()) / temperature)
    return len(scores) * raw / raw.sum()


@reweighter(arrays="numpy", in_log_space=True)
def np_log_softmax(scores: np.ndarray, batch: Batch, ctx: Context, *, temperature: float = 1.0) -> np.ndarray:
    """The same, by its logarithms: whatever the temperature, the weights neither overflow nor vanish."""
    return scores / temperature


@reweighter(accepts="token", arrays="numpy")
def np_blend(scores: np.ndarray, batch: Batch, ctx: Context, *, alpha: float = 0.5) -> np.ndarray:
    """alpha · score + 1 − alpha."""
    return alpha * scores + 1 - alpha


@selector(arrays="numpy")
class NpFresh:
    """Keeps rows within the band whose group was not kept in the last step."""

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        self.low, self.high = low, high

    def act(self, scores: np.ndarray, batch: Batch, ctx: Context) -> np.ndarray:
        ctx.warn("kept by band")
        ctx.metric("steps_known", len(ctx.state))
        return (scores > self.low) & (scores < self.high)

    def remember(self, scores: np.ndarray, batch: Batch, ctx: Context) -> dict[str, float]:
        return {"mean": float(scores.mean())}


@scorer(requires=["advantages"], arrays="numpy")
def np_drawn(batch: Batch, ctx: Context) -> np.ndarray:
    """Random numbers: the same for the same step."""
    return ctx.random.random(len(batch))


@mixer()
def np_behind(series: Series, ctx: Context, *, floor: float = 0.05) -> np.ndarray:
    """The further a domain is behind the best, the more it gets."""
    gap = np.exp(series.means.max() - series.means)
    return gap / gap.sum()

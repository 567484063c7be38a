"""
A trainer of forty lines: GRPO on a toy task, each response of one answer and some filler tokens. Groups that are all right or all wrong are
dropped while the trainer computes its advantages; long shots weigh more. Usage: python reweight_loop.py [steps], with DFX_REDIS_URL set.
"""

from __future__ import annotations

import sys

import numpy as np

from dataflex_mq import Client

PROMPTS, ANSWERS, GROUP, WIDTH = 16, 4, 8, 12
DATAFLEX = {
    "pipelines": {
        "band": {
            "mechanism": "select",
            "scorer": {"name": "group_solve_rate"},
            "actuator": {"name": "threshold_band", "params": {"low": 0, "high": 1}},
        },
        "size": {"mechanism": "reweight", "scorer": {"name": "advantage_magnitude"}, "actuator": {"name": "softmax"}},
    }
}


def train(steps: int, redis_url: str | None = None, run_id: str = "reweight-loop") -> list[float]:
    """The share of right answers at each step."""
    rng, logits, solved = np.random.default_rng(0), np.zeros((PROMPTS, ANSWERS)), []
    prompt = np.repeat(np.arange(PROMPTS), GROUP)
    uid = np.array([f"prompt-{i}" for i in prompt], dtype=object)
    with Client(redis_url) as client, client.mount(run_id, DATAFLEX, adv_estimator="grpo", group_size=GROUP) as run:
        for step in range(1, steps + 1):
            # Roll out: one answer a response, rewarded at its last token.
            policy = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            answer = (policy[prompt].cumsum(axis=1) > rng.random((len(prompt), 1))).argmax(axis=1)
            reward = (answer == prompt % ANSWERS).astype(np.float32)
            lengths = rng.integers(1, WIDTH + 1, len(prompt))
            mask = np.arange(WIDTH) < lengths[:, None]
            scores = np.where(np.arange(WIDTH) == lengths[:, None] - 1, reward[:, None], np.float32(0))
            # Rewards are all that the selection needs: it goes on while the trainer does its other passes.
            run.submit(step, "post_reward", {"rm_scores": scores, "response_mask": mask, "uid": uid}, lengths=lengths)
            groups = reward.reshape(PROMPTS, GROUP)
            advantage = ((groups - groups.mean(1, keepdims=True)) / (groups.std(1, keepdims=True) + 1e-6)).reshape(-1)
            tokens = np.where(mask, advantage[:, None], 0).astype(np.float32)
            run.put(step, "post_advantage", {"advantages": tokens, "response_mask": mask})
            # The loss: what the policy gradient multiplies, token by token.
            weights = run.weights(step, timeout=30.0).rollout_is_weights(mask)
            signal = (weights * tokens).sum(axis=1) / lengths
            for row, at in enumerate(prompt):
                logits[at] += 0.2 * signal[row] * (np.eye(ANSWERS)[answer[row]] - policy[at])
            run.release(step)
            solved.append(float(reward.mean()))
            print(f"step {step:3}   solved {solved[-1]:.2f}   rows that train {(weights.sum(axis=1) > 0).mean():.2f}")
    return solved


if __name__ == "__main__":
    train(int(sys.argv[1]) if len(sys.argv) > 1 else 20)

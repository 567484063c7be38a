import os
import subprocess
import sys

import numpy as np
import torch

from dataflex_mq.testing import check_component

FILE = os.path.join(os.path.dirname(__file__), "learned_difficulty.py")


def rollouts(rows=400, width=12):
    """Responses written with confidence succeed."""
    rng = np.random.default_rng(0)
    skill = rng.random(rows)
    lengths = rng.integers(3, width + 1, rows)
    mask = (np.arange(width) < lengths[:, None]).astype(np.int64)
    log_probs = -rng.exponential(2.5 - 2 * skill[:, None], (rows, width)) * mask
    return {"log_probs": log_probs, "mask": mask, "solved": (skill > 0.5).astype(np.int64)}


def test_it_learns_and_keeps_what_every_component_promises(tmp_path):
    data, checkpoint = tmp_path / "rollouts.npz", tmp_path / "difficulty.pt"
    found = rollouts()
    np.savez(data, **found)
    subprocess.run([sys.executable, FILE, str(data), str(checkpoint)], check=True)
    check_component(FILE, params={"checkpoint": str(checkpoint)})

    sys.path.insert(0, os.path.dirname(FILE))
    from learned_difficulty import features_of, network

    saved = torch.load(checkpoint, weights_only=True)
    model = network()
    model.load_state_dict(saved["model"])
    values, mask = torch.tensor(found["log_probs"]), torch.tensor(found["mask"]).double()
    features = features_of((values * mask).sum(-1), (values**2 * mask).sum(-1), mask.sum(-1))
    with torch.no_grad():
        solved = model((features - saved["mean"]) / saved["scale"])[:, 0].sigmoid().numpy()
    assert ((solved > 0.5) == (found["solved"] == 1)).mean() > 0.8

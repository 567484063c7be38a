import os
import sys
import textwrap

import numpy as np

from dataflex_mq.testing import check_component

FILE = os.path.join(os.path.dirname(__file__), "reward_model.py")
# Mean embedding of the tokens, through a linear head.
MODEL = """
    import torch

    def load(checkpoint, device):
        torch.manual_seed(0)
        embed, head = torch.nn.Embedding(64, 8).to(device), torch.nn.Linear(8, 1).to(device)

        def rewards(ids, mask):
            mean = (embed(ids) * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
            return head(mean)[:, 0]

        return rewards
    """


def test_it_keeps_what_every_component_promises_in_batches_of_any_size(tmp_path, monkeypatch):
    (tmp_path / "tiny_reward.py").write_text(textwrap.dedent(MODEL))
    monkeypatch.syspath_prepend(str(tmp_path))
    fields = {"responses": lambda rng, lengths: [rng.integers(0, 64, n).astype(np.float32) for n in lengths]}
    for tokens in (1, 7, 65_536):
        params = {"load": "tiny_reward:load", "tokens_per_batch": tokens}
        check_component(FILE, params=params, fields=fields, skip=["import"] if tokens > 1 else [])


def test_a_batch_holds_at_most_so_many_tokens():
    sys.path.insert(0, os.path.dirname(FILE))
    from dataflex_mq.host.original.modules import install

    install()
    from reward_model import RewardModel

    lengths = [5, 2, 9, 3, 3]
    order = sorted(range(5), key=lengths.__getitem__)
    batches = RewardModel("m:f", tokens_per_batch=9).batches(order, lengths)
    assert batches == [[1, 3, 4], [0], [2]]

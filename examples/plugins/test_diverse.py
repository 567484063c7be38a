import os
import sys

import torch

from dataflex_mq.testing import check_component

FILE = os.path.join(os.path.dirname(__file__), "diverse.py")
sys.path.insert(0, os.path.dirname(FILE))


def test_it_keeps_what_every_component_promises():
    check_component(FILE)


def test_a_copy_of_what_is_kept_waits_for_something_new():
    from diverse import pick

    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    scores = torch.tensor([1.0, 0.9, 0.5, 0.1], dtype=torch.float64)
    # Distances to row 0: 0, 1, 2. Half of them beside the scores: 0.9, 1.0, 1.1.
    assert pick(scores, vectors, 2, novelty=0.5) == [0, 3]
    # To what is nearest of rows 0 and 3: 0 and 1.
    assert pick(scores, vectors, 3, novelty=0.5) == [0, 3, 2]
    assert pick(scores, vectors, 4, novelty=0.0) == [0, 1, 2, 3]


def test_ties_go_to_the_earlier_row():
    from diverse import pick

    alike = torch.ones(4, 3, dtype=torch.float64)
    assert pick(torch.zeros(4, dtype=torch.float64), alike, 3, novelty=1.0) == [0, 1, 2]

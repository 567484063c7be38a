import os

from dataflex_mq.testing import check_component

FILE = os.path.join(os.path.dirname(__file__), "freshness.py")


def test_it_keeps_what_every_component_promises():
    check_component(FILE, params={"half_life": 1.5})

"""
What an author of components needs to test them.

    from dataflex_mq.testing import check_component

    def test_loudness():
        check_component("loudness.py")

docs/python-components.md lists what is looked for.
"""

from .check import ComponentError, check_component

__all__ = ["ComponentError", "check_component"]

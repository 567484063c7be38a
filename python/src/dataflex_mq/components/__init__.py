"""
Components in Python, which workers run: `dataflex-mq worker --plugin mine.py`.

    from dataflex_mq.components import Batch, Context, scorer

    @scorer(requires=["advantages"])
    def loudness(batch: Batch, ctx: Context, *, power: float = 1.0):
        return batch.jagged("advantages").values.abs() …

docs/python-components.md says what a component may be; `dataflex_mq.testing.check_component` looks for the usual mistakes.
"""

from .batch import Batch, Jagged
from .context import Context, StateStep
from .decorators import mixer, reweighter, scorer, selector
from .groups import Groups
from .series import Series

__all__ = [
    "Batch",
    "Context",
    "Groups",
    "Jagged",
    "Series",
    "StateStep",
    "mixer",
    "reweighter",
    "scorer",
    "selector",
]

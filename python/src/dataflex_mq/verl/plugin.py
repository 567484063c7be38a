"""
What verl loads through the entry point `verl.plugins`, while verl itself is being imported.

verl swallows what a plug-in raises and says "Unknown trainer" much later, so nothing here may raise. The trainers are made when verl's own
are: `import verl` alone, in every rollout worker, then costs nothing, and nothing of verl is imported before verl is ready.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

log = logging.getLogger("dataflex_mq")

# Importing it defines verl's trainers; the registry cannot be reached without it.
TRAINERS_MODULE = "verl.trainer.ppo.v1"


class _After(Loader):
    """Runs the module, then registers."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        register()


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != TRAINERS_MODULE:
            return None
        # Needed once only; and `find_spec` below must not come back here.
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _After(spec.loader)
        return spec


def install() -> None:
    """Registers the trainers now, if verl's are there, else as soon as they are."""
    if TRAINERS_MODULE in sys.modules:
        register()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def register() -> None:
    """Registers the trainers, or on an unproven verl trainers that say so when they are used. Never raises."""
    try:
        from .register import register_all

        register_all()
    except Exception:  # verl would swallow it silently
        log.exception("dataflex_mq: its trainers could not be registered with this verl")


install()

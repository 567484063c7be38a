"""The modules that classes written for DataFlex-RL import: `dataflex_verl.core.…`, whether or not that package is installed."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from . import bases, registry

PACKAGE = "dataflex_verl"

_REGISTRY = ("Registry", "REGISTRY", "register_scorer", "register_selector", "register_reweighter", "register_mixer")
_CORE: dict[str, dict[str, Any]] = {
    "registry": {name: getattr(registry, name) for name in _REGISTRY},
    "scorer": {name: getattr(bases, name) for name in ("Scorer", "TIMINGS", "GRANULARITIES")},
    "actuator": {name: getattr(bases, name) for name in ("Actuator", "Selector", "Reweighter", "Mixer")},
    "config": {},
}


def install() -> None:
    """
    Puts the package and its `core` into `sys.modules`. Where the real one is installed, its other modules are found behind them; the base
    classes and the registry are always these.
    """
    os.environ["DATAFLEX_VERL_DISABLE_AUTOLOAD"] = "1"
    real = importlib.util.find_spec(PACKAGE) if PACKAGE not in sys.modules else None
    folders = list(real.submodule_search_locations or []) if real else []
    _add(PACKAGE, {}, folders)
    _add(f"{PACKAGE}.core", {}, [os.path.join(folder, "core") for folder in folders])
    for name, contents in _CORE.items():
        _add(f"{PACKAGE}.core.{name}", contents, None)


def _add(name: str, contents: dict[str, Any], folders: list[str] | None) -> None:
    module = ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=folders is not None)
    if folders is not None:
        module.__path__ = folders
    module.__package__ = name if folders is not None else name.rpartition(".")[0]
    vars(module).update(contents)
    sys.modules[name] = module
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)

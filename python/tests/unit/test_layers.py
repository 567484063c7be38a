"""The package is built like the service (docs/architecture.md): each room imports only those above it, and no import goes round."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import dataflex_mq

ROOT = Path(dataflex_mq.__file__).parent
# From the top; a room may import the rooms before it. The modules beside them are leaves:
# any room may import them, and they import each other only.
ROOMS = ["columns", "protocol", "redis", "client", "components", "host", "testing", "verl", "config"]
MODULES = {path.relative_to(ROOT).with_suffix("").parts: path for path in sorted(ROOT.rglob("*.py"))}


def imports(module: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The package's modules that this one names, those for type checking included."""
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        base = (*module[: -node.level], *(node.module.split(".") if node.module else ()))
        found |= {base} if base in MODULES else {(*base, name.name) for name in node.names} & set(MODULES)
    return found


IMPORTS = {module: imports(module) for module in MODULES}


def test_the_imports_are_read() -> None:
    assert {module[0] for module in MODULES if len(module) > 1} == set(ROOMS)
    assert ("redis", "connect") in IMPORTS["client", "run"]
    assert ("columns", "encodings", "part") in IMPORTS["columns", "encode"]


def test_a_room_imports_only_those_above_it() -> None:
    wrong = [
        f"{'.'.join(module)} imports {'.'.join(other)}"
        for module, others in IMPORTS.items()
        for other in others
        if len(module) > 1 and len(other) > 1 and ROOMS.index(other[0]) > ROOMS.index(module[0])
    ]
    leaves = [
        f"{module[0]} imports {'.'.join(other)}"
        for module, others in IMPORTS.items()
        for other in others
        if len(module) == 1 and module != ("__init__",) and len(other) > 1
    ]
    assert (wrong, leaves) == ([], [])


def test_no_import_goes_round() -> None:
    # Raises CycleError naming the modules.
    tuple(TopologicalSorter(IMPORTS).static_order())


def test_no_two_modules_have_one_name() -> None:
    names = [module[-1] for module in MODULES if module[-1] != "__init__"]
    assert sorted(names) == sorted(set(names))

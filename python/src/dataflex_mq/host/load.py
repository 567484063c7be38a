"""Imports the files of a worker's plugins and takes what they declare."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
from dataclasses import dataclass, replace
from typing import Any

from ..components.declaration import DECLARED, Declaration
from ..version import __version__
from .original.modules import PACKAGE, install


class LoadError(Exception):
    """A file that cannot be a plugin. `failure` is what the worker ends with."""

    def __init__(self, file: str, thrown: BaseException | None, text: str) -> None:
        super().__init__(text)
        self.file = file
        self.thrown = thrown


@dataclass(frozen=True)
class Loaded:
    """A component with its file; `source` identifies the file's text."""

    declaration: Declaration
    file: str
    source: str

    @property
    def key(self) -> tuple[str, str]:
        return self.declaration.kind, self.declaration.name

    def as_dict(self) -> dict[str, Any]:
        return {**self.declaration.as_dict(), "file": self.file, "source": self.source}


def load_files(files: list[str], taken: set[tuple[str, str]]) -> list[Loaded]:
    """
    Imports the files, each as a module of `dataflex_verl`, so that relative imports of its `core` are found. `taken`: kinds and
    names of built-in components; a component of such a name is called `<file stem>:<name>`.

    Raises LoadError.
    """
    install()
    found: dict[tuple[str, str], Loaded] = {}
    for file in files:
        for declaration in _import(file):
            own = Loaded(_renamed(declaration, file, taken), file, _source(file))
            if own.key in found:
                other = found[own.key].file
                raise LoadError(
                    file, None, f"defines the {own.declaration.who}, which {other} defines already: rename one"
                )
            found[own.key] = own
    return list(found.values())


def _import(file: str) -> list[Declaration]:
    folder = os.path.dirname(file)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = f"{PACKAGE}.{stem_of(file)}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise LoadError(file, None, "is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    DECLARED.take()
    try:
        spec.loader.exec_module(module)
    except BaseException as thrown:
        raise LoadError(file, thrown, "") from thrown
    found = DECLARED.take()
    if not found:
        hint = (
            "decorate a class or function with what dataflex_mq.components has, or register it with register_scorer, …"
        )
        raise LoadError(file, None, f"declares no component: {hint}")
    return found


def stem_of(file: str) -> str:
    """A file's name as the first part of `<stem>:<name>`: lower case, letters, digits and `_`."""
    stem = re.sub(r"[^a-z0-9_]", "_", os.path.splitext(os.path.basename(file))[0].lower())
    return stem if re.match("[a-z]", stem) else f"p{stem}"


def _renamed(declaration: Declaration, file: str, taken: set[tuple[str, str]]) -> Declaration:
    if (declaration.kind, declaration.name) not in taken:
        return declaration
    return replace(declaration, name=f"{stem_of(file)}:{declaration.name}")


def _source(file: str) -> str:
    """What determines a component's identity: the text of its file, and this package's version."""
    with open(file, "rb") as opened:
        return hashlib.sha256(opened.read() + __version__.encode()).hexdigest()

"""`check_component`: does a component keep to what the framework relies on?"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..columns.field_names import STRING_FIELDS
from ..components.declaration import Declaration, declaration_of
from ..host.failures import AnswerError
from ..host.load import load_files
from .fresh_import import import_failure
from .mixer_properties import mixer_failures
from .properties import PROPERTIES
from .samples import Maker, Sample, names_of, samples_for
from .subject import Subject

Component = Callable[..., Any] | str | os.PathLike[str]


class ComponentError(AssertionError):
    """Everything that a component fails, a line each. `failures` holds the lines."""

    def __init__(self, who: str, failures: list[str]) -> None:
        super().__init__(f"{who} fails:\n" + "\n".join(f"  {line}" for line in failures))
        self.failures = failures


def check_component(
    component: Component,
    name: str | None = None,
    *,
    params: Mapping[str, Any] | None = None,
    fields: Mapping[str, Maker] | None = None,
    skip: Collection[str] = (),
    seed: int = 1,
    import_seconds: float = 5.0,
) -> None:
    """
    Runs a component on batches that it must cope with: one row, one group, masks with holes, equal and large values. Looks for answers of a
    wrong shape or not finite, for what depends on padding, on the order of rows, on earlier calls or on unseeded randomness, for rows
    that see more than `rows` declares, for changed inputs, for tensors left on the CPU, and for fields that are required and never read.

    component: a decorated function or class, or a file; `name` says which of a file's components. Of a file its import is timed too.
    fields: how to make fields of one's own, `{"turns": lambda rng, lengths: rng.integers(1, 9, len(lengths))}`: one number a row, one
    string a row, or an array for each row's tokens.
    skip: properties that the component is known not to have, such as `permutation` for one that draws a number for each row.

    Raises ComponentError listing everything that failed; ValueError where it is not clear which component is meant.
    """
    declaration, file = _found(component, name)
    missing = [param.name for param in declaration.params if param.required and param.name not in (params or {})]
    if missing:
        raise ValueError(f"{declaration.who} needs a value for {', '.join(missing)}: pass params={{{missing[0]!r}: …}}")
    subject = Subject(declaration, params or {})
    failures: list[str] = []
    if file is not None and "import" not in skip:
        slow = import_failure(file, import_seconds)
        failures += [] if slow is None else [f"import: {slow}"]
    if declaration.kind == "mixer":
        failures += mixer_failures(subject)
    else:
        failures += _row_failures(subject, samples_for(declaration, fields or {}, seed), skip)
    if failures:
        raise ComponentError(declaration.who, failures)


def _row_failures(subject: Subject, samples: list[Sample], skip: Collection[str]) -> Iterator[str]:
    told: set[str] = set()
    failed = False
    for sample in samples:
        try:
            base = subject.observe(sample)
        except Exception as thrown:
            failed = True
            yield f"{sample.label}: {_what(thrown)}"
            continue
        for name, test in PROPERTIES.items():
            # One sample shows what is wrong; more of them would hide the next mistake.
            if name in skip or name in told:
                continue
            try:
                wrong = test(subject, sample, base)
            except Exception as thrown:
                wrong = _what(thrown)
            if wrong is not None:
                told.add(name)
                yield f"{name}, {sample.label}: {wrong}"
    # A class of the original form is handed its strings whether or not it reads them.
    unseen = () if subject.declaration.form == "own" else STRING_FIELDS
    known = {*subject.read, *unseen, "response_mask", "uid"}
    unread = [name for name in names_of(subject.declaration) if name not in known]
    if unread and "requires" not in skip and not failed:
        yield f"requires: it never reads {', '.join(unread)}: the trainer would send it for nothing"


def _what(thrown: Exception) -> str:
    return f"it {thrown}" if isinstance(thrown, AnswerError) else f"it raised {type(thrown).__name__}: {thrown}"


def _found(component: Component, name: str | None) -> tuple[Declaration, str | None]:
    if not isinstance(component, str | os.PathLike):
        declaration = declaration_of(component)
        if declaration is None:
            raise ValueError(
                f"{component!r} is no component: decorate it with what dataflex_mq.components has, or name its file"
            )
        return declaration, None
    file = str(Path(component).resolve())
    all_of = {loaded.declaration.name: loaded.declaration for loaded in load_files([file], set())}
    if name is None and len(all_of) == 1:
        return next(iter(all_of.values())), file
    if name is None or name not in all_of:
        wrong = "has several components" if name is None else f"has no component {name!r}"
        raise ValueError(f"{file} {wrong}: name one of {', '.join(all_of)}")
    return all_of[name], file

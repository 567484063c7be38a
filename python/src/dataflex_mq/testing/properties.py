"""Properties that a component of rows must have on each sample. Each check answers with what is wrong and what to do, or None."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

import numpy as np

from .samples import Sample
from .subject import Observed, Subject

Property = Callable[[Subject, Sample, Observed], str | None]

# Sums of float32 in another order, and no more.
_TOLERANCE = 1e-5
_WIDER = 3
_DEVICE_MISTAKES = (
    "not on the expected device",
    "to be on the same device",
    "to be in the same device",
    "device type tensor to numpy",
)


def finite(subject: Subject, sample: Sample, base: Observed) -> str | None:
    logs = subject.declaration.in_log_space
    for row, values in enumerate(base):
        bad = np.flatnonzero(np.isnan(values) | (values == np.inf) | ((values == -np.inf) & (not logs)))
        if len(bad) > 0:
            value = np.atleast_1d(values)[bad[0]]
            return f"row {row} is {value}: guard the division, logarithm or root that gives it"
    return None


def weight(subject: Subject, sample: Sample, base: Observed) -> str | None:
    if subject.declaration.kind != "reweighter" or subject.declaration.in_log_space:
        return None
    low = next((row for row, values in enumerate(base) if np.min(values, initial=0) < 0), None)
    return None if low is None else f"row {low} has a weight below 0: weights are >= 0"


def precision(subject: Subject, sample: Sample, base: Observed) -> str | None:
    half = next((dtype for dtype in sorted(subject.dtypes) if "float16" in dtype), None)
    if half is None:
        return None
    return f"it returns {half}: scores are compared and weights multiplied in float32, and rows would tie that do not. Return .float()"


def determinism(subject: Subject, sample: Sample, base: Observed) -> str | None:
    if _difference(subject.observe(sample), base) is None:
        return None
    _seed()
    first = subject.observe(sample)
    _seed()
    if _difference(subject.observe(sample), first) is None:
        return (
            "two runs on the same batch differ, unless the global generators are seeded alike: draw random numbers from "
            "ctx.random or ctx.generator, which give the same ones when a step is done again"
        )
    return (
        "two runs on the same batch differ: a step that is done again must get the same answer. Draw random numbers from ctx.random or "
        "ctx.generator, and look at no clock and nothing outside the instance"
    )


def hidden_state(subject: Subject, sample: Sample, base: Observed) -> str | None:
    instance = subject.make()
    first = subject.observe(sample, instance)
    subject.observe(sample.halved(), instance)
    wrong = _difference(subject.observe(sample, instance), first)
    if wrong is None:
        return None
    return (
        f"what it scored before changes its answer ({wrong}): steps come to any worker, in any order, some twice. Keep nothing on self; "
        "a selector's `remember` and ctx.state are for that"
    )


def mutation(subject: Subject, sample: Sample, base: Observed) -> str | None:
    wrong = _difference(subject.reading_copies().observe(sample), base)
    if wrong is None:
        return None
    return f"it changes in place what it reads again ({wrong}): work on a copy (.clone(), .copy()), or read once"


def padding(subject: Subject, sample: Sample, base: Observed) -> str | None:
    wrong = _difference(subject.observe(sample, wider=_WIDER), base)
    if wrong is None:
        return None
    return (
        f"padded by {_WIDER} more tokens, {wrong}: divide by the tokens under the mask (batch.lengths), not by the width, and let "
        "batch.mask decide what counts"
    )


def permutation(subject: Subject, sample: Sample, base: Observed) -> str | None:
    if sample.ties or sample.rows < 2:
        return None
    order = np.random.default_rng(7).permutation(sample.rows).tolist()
    wrong = _difference(subject.observe(sample.take(order)), [base[row] for row in order])
    return None if wrong is None else f"with its rows in another order, {wrong}: rows come in any order"


def rows(subject: Subject, sample: Sample, base: Observed) -> str | None:
    declared = subject.declaration.rows
    for part in _parts(subject, sample):
        wrong = _difference(subject.observe(sample.take(part)), [base[row] for row in part])
        if wrong is not None:
            wider = "group or batch" if declared == "independent" else "batch"
            return f'it is declared rows="{declared}", but rows {part} alone: {wrong}. Declare rows="{wider}"'
    return None


def device(subject: Subject, sample: Sample, base: Observed) -> str | None:
    """
    On a GPU where there is one. Else on torch's meta device, which knows where a tensor lies but holds no numbers: mixing it with tensors
    of the CPU fails as on a GPU, and what needs numbers cannot be judged.
    """
    if subject.declaration.form == "own" and subject.declaration.arrays == "numpy":
        return None
    import torch

    gpu = torch.cuda.is_available()
    try:
        found = subject.on("cuda:0" if gpu else "meta").observe(sample)
    except Exception as thrown:
        text = " ".join(str(thrown).split())
        if not gpu and not any(mistake in text for mistake in _DEVICE_MISTAKES):
            return None
        return (
            f"on a GPU it raises {type(thrown).__name__}: {text}. Make tensors with device=ctx.device, or like the batch's; move the model "
            "in setup(device), and take .cpu() before NumPy"
        )
    wrong = _difference(found, base, tolerance=1e-3) if gpu else None
    return None if wrong is None else f"on a GPU, {wrong}"


PROPERTIES: dict[str, Property] = {
    "finite": finite,
    "weight": weight,
    "precision": precision,
    "determinism": determinism,
    "hidden_state": hidden_state,
    "mutation": mutation,
    "padding": padding,
    "permutation": permutation,
    "rows": rows,
    "device": device,
}


def _parts(subject: Subject, sample: Sample) -> list[list[int]]:
    """How the declared `rows` allows a sample to be cut."""
    every = list(range(sample.rows))
    if subject.declaration.rows == "independent":
        return [part for part in (every[::2], every[1::2]) if part]
    uid = sample.fields.get("uid")
    if subject.declaration.rows == "group" and uid is not None:
        return [[row for row in every if uid[row] == one] for one in dict.fromkeys(uid)]
    return []


def _seed() -> None:
    random.seed(7)
    np.random.seed(7)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(7)


def _difference(have: Observed, want: Observed, tolerance: float = _TOLERANCE) -> str | None:
    """The first difference in words, relative to the size of the numbers."""
    for row, (got, wanted) in enumerate(zip(have, want, strict=True)):
        first, second = np.atleast_1d(got), np.atleast_1d(wanted)
        if first.shape != second.shape:
            return f"row {row} has {len(first)} numbers instead of {len(second)}"
        off = ~np.isclose(first, second, rtol=tolerance, atol=tolerance, equal_nan=True)
        if off.any():
            at = int(np.flatnonzero(off)[0])
            where = f"row {row}" if len(first) == 1 else f"row {row}, token {at}"
            return f"{where} is {first[at]:.6g} instead of {second[at]:.6g}"
    return None

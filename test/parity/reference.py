"""Formulas of every component, written for PyTorch (CPU, float64) apart from the TypeScript ones.

Usage: python test/parity/reference.py CASES.json ANSWERS.json

CASES.json: {"steps": [...], "runs": [{"kind", "name", "step", "params", "scores"?, "history"?}]}; a step as reference/step.py reads it, `scores`
the name of the column or field that an actuator gets. ANSWERS.json: one entry a run, row by row: [] for rows that are not live, else one
number, or one number an unmasked token. Runs of a mixer or policy bring their own history instead of a step: see reference/mixers.py (the
answer is one list of shares) and reference/policies.py.
"""

from __future__ import annotations

import json
import sys

import torch

from reference.mixers import mix
from reference.originals import originals
from reference.policies import choose
from reference.reweighters import REWEIGHTERS
from reference.scorers import SCORERS
from reference.selectors import SELECTORS
from reference.step import F64, Step


def answer(steps: list[Step], run: dict) -> list[list[float]]:
    if run["kind"] == "mixer":
        return [mix(run).tolist()]
    if run["kind"] == "policy":
        return choose(run)
    return act(steps[run["step"]], run)


def act(step: Step, run: dict) -> list[list[float]]:
    if run["kind"] == "scorer":
        result = SCORERS[run["name"]](step, **run["params"])
    else:
        table = REWEIGHTERS if run["kind"] == "reweighter" else SELECTORS
        scores = step.columns[run["scores"]] if run["scores"] in step.columns else step.field(run["scores"])
        told = {"history": run["history"]} if "history" in run else {}
        result = table[run["name"]](step, scores.clone(), **told, **run["params"])
    result = result.to(F64)
    rows = []
    for i, live in enumerate(step.live.tolist()):
        if not live:
            rows.append([])
        elif result.dim() == 1:
            rows.append([result[i].item()])
        else:
            rows.append(result[i][step.mask[i]].tolist())
    return rows


def main() -> None:
    torch.set_num_threads(1)
    torch.set_default_dtype(F64)  # or numbers that meet a tensor of flags would be float32
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    steps = [Step(data) for data in cases["steps"]]
    answers = [answer(steps, run) for run in cases["runs"]]
    with open(sys.argv[2], "w") as file:
        json.dump({"torch": torch.__version__, "answers": answers, "originals": originals()}, file)


if __name__ == "__main__":
    main()

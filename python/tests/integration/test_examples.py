"""What the documents show is run, as it stands there."""

from __future__ import annotations

import re
import runpy
from typing import Any

import numpy as np
import pytest

from helpers.fixture_f import LENGTHS, MASK, UID, fields
from helpers.paths import REPOSITORY
from helpers.processes import PrivateRedis

PYTHON = REPOSITORY / "python"
LOOP = PYTHON / "examples" / "reweight_loop.py"
BLOCK = re.compile(r"```python\n(.*?)```", re.S)


def test_the_readme_runs(
    service: PrivateRedis, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DFX_REDIS_URL", service.url)
    given = fields()
    names: dict[str, Any] = {
        "adv": given["advantages"],
        "rewards": given["rm_scores"],
        "mask": MASK,
        "uid": UID,
        "lengths": LENGTHS,
    }
    blocks = BLOCK.findall((PYTHON / "README.md").read_text())
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert "[1.0043" in capsys.readouterr().out.replace("\n", "")


def test_the_loop_learns_and_stands_in_the_documents(service: PrivateRedis) -> None:
    loop = runpy.run_path(str(LOOP))
    solved = loop["train"](16, service.url, "example")
    assert np.mean(solved[:2]) < 0.5
    assert np.mean(solved[-2:]) > 0.9
    (block,) = BLOCK.findall((REPOSITORY / "docs" / "trainers.md").read_text())
    assert block == LOOP.read_text()

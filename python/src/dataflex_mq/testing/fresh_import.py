"""What it takes a new process to import a plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dataflex_mq

_CODE = """
import sys, time, warnings
warnings.simplefilter("ignore")
from dataflex_mq.host.load import LoadError, load_files
if "torch" in open(sys.argv[1], encoding="utf-8").read():
    try:
        import torch
    except ImportError:
        pass
begun = time.perf_counter()
try:
    load_files([sys.argv[1]], set())
except LoadError as error:
    sys.exit(str(error) if error.thrown is None else f"{type(error.thrown).__name__}: {error.thrown}")
print("\\n", time.perf_counter() - begun)
"""


def import_failure(file: str, limit: float) -> str | None:
    """Why a worker's process could not import it, or that it took longer than `limit` seconds; the time that torch takes does not count."""
    # Of this process' paths only the package's own: a worker has no other either.
    own = str(Path(dataflex_mq.__file__).parent.parent)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [own, os.environ.get("PYTHONPATH")]))}
    run = subprocess.run([sys.executable, "-c", _CODE, file], capture_output=True, text=True, check=False, env=env)
    if run.returncode != 0:
        last = (run.stderr.strip().splitlines() or [f"exit {run.returncode}"])[-1]
        return f"a process of its own cannot import {file}: {last}"
    took = float(run.stdout.split()[-1])
    if took <= limit:
        return None
    return (
        f"importing {file} takes {took:.1f} s (limit {limit:g} s), and every start of a worker's process waits for it: load models "
        "and data in setup(device)"
    )

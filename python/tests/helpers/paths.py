"""Where things lie. The tests run inside the repository whose service they test."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
VECTORS = REPOSITORY / "test" / "vectors"
# The built service. Another checkout's may be named, to test this client against it.
DIST = Path(os.environ.get("DFX_DIST", REPOSITORY / "dist"))

"""
A field under a name that nobody wants, close to a wanted one that is missing, would stay here in silence, and the step would wait in vain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..columns.field_names import LAYOUT_COLUMNS, SESSION_COLUMNS
from ..redis.mounts import Handle
from ..sentences import error_of
from ..suggest import nearest

# Names that verl has and that lie close to one another: a put may hold all of them, whichever are wanted.
KNOWN = (
    *LAYOUT_COLUMNS,
    *SESSION_COLUMNS,
    "old_log_probs",
    "ref_log_prob",
    "rollout_log_probs",
    "values",
    "returns",
    "token_level_scores",
    "token_level_rewards",
)


def refuse_misspelt(handle: Handle, stage: str, fields: Mapping[str, Any]) -> None:
    """Raises INVALID_INPUT naming both."""
    missing = [need["name"] for need in handle["stages"].get(stage, []) if need["name"] not in fields]
    if not missing:
        return
    wanted_somewhere = {need["name"] for needs in handle["stages"].values() for need in needs}
    for given in fields:
        if given in wanted_somewhere or given in KNOWN or not isinstance(given, str):
            continue
        near = nearest(given, missing)
        if near:
            raise error_of("INVALID_INPUT.misspelt", given=given, wanted=near[0], stage=stage)

"""What a field holds, by its need: a number a token (`tokens`), one a row (`row`), a string a row, features, or numbers in either form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .field_names import STRING_FIELDS

# Token fields that trainers also hold as one number a row, and at which of its counted tokens that number stands.
SPREAD_FIELDS = {
    "rm_scores": "last",
    "token_level_scores": "last",
    "token_level_rewards": "last",
    "advantages": "each",
    "returns": "each",
}


def kind_of(need: Mapping[str, Any]) -> str:
    """A field's kind, where nobody named it: by its scope, else by its name."""
    if "kind" in need:
        return str(need["kind"])
    if need.get("scope") is not None:
        return "tokens"
    if need["name"] in STRING_FIELDS:
        return "strings"
    return "features" if need["name"] == "features" else "row"

"""JSON as the SDK reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pydantic_core


def json_text(value: Any) -> bytes:
    """Return a client's value as JSON; a value that JSON cannot hold becomes invalid JSON."""
    try:
        return pydantic_core.to_json(value, inf_nan_mode="constants")
    except ValueError:
        return b"?"


def read_message(text: str | bytes) -> Any:
    """Read JSON with the SDK's parser, so that both see the same; ``None`` if it is invalid."""
    try:
        return pydantic_core.from_json(text)
    except ValueError:
        return None


def merged(value: Any, patch: Any) -> Any:
    """Return a value changed by a JSON Merge Patch (RFC 7396)."""
    if not isinstance(patch, Mapping):
        return patch
    kept = {**value} if isinstance(value, Mapping) else {}
    for name, change in patch.items():
        before = kept.pop(name, None)
        if change is not None:
            kept[name] = merged(before, change)
    return kept

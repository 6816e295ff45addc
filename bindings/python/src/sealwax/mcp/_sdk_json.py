"""JSON as the SDK reads it."""

from __future__ import annotations

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

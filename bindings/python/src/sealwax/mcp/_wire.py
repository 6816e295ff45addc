"""JSON as it came, and as the SDK reads it."""

from __future__ import annotations

from typing import Any

import pydantic_core


def json_text(value: Any) -> bytes:
    """Return a value that a client sent as JSON; what is none stays none."""
    try:
        return pydantic_core.to_json(value, inf_nan_mode="constants")
    except ValueError:
        return b"?"


def read_message(text: str | bytes) -> Any:
    """Read JSON as the SDK will, so that both see the same; ``None`` where it is none."""
    try:
        return pydantic_core.from_json(text)
    except ValueError:
        return None

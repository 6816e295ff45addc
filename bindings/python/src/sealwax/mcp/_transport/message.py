"""JSON as the SDK reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import pydantic_core

#: The names on the way to a member, and its value.
Change: TypeAlias = tuple[Sequence[str], Any]


def json_text(value: Any) -> bytes:
    """Return a client's value as JSON; a value that JSON cannot hold becomes invalid JSON."""
    try:
        return pydantic_core.to_json(value, inf_nan_mode="constants")
    except ValueError:
        pass
    try:
        # With escapes for lone surrogates, so that it can be said where one is.
        return json.dumps(value).encode()
    except (ValueError, TypeError, RecursionError):
        return b"?"


def read_message(text: str | bytes) -> Any:
    """Read JSON with the SDK's parser, so that both see the same; ``None`` if it is invalid."""
    try:
        return pydantic_core.from_json(text)
    except ValueError:
        return None


def with_members(result: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """Return a result with members set, each by the names on the way to it."""
    changed = {**result}
    for path, value in changes:
        changed = _with(changed, path, value)
    return changed


def _with(members: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    name, *rest = path
    changed = {**members}
    if rest:
        inner = changed[name] if isinstance(changed.get(name), Mapping) else {}
        value = _with(inner, rest, value)
    changed[name] = value
    return changed

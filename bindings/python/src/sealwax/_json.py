"""Strict JSON: refuses values that languages read differently."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from ._errors import InvalidArgument, Malformed

# With options other than its defaults, json.dumps makes a new encoder for every call.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def dumps(name: str, value: Any) -> bytes:
    """Write a value of the caller's."""
    try:
        return _encode(value).encode()
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{name}: expected a value that JSON can hold: {error}") from None


def loads(payload: bytes) -> Any:
    """Read a payload."""
    try:
        return json.loads(payload.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Malformed("expected a payload that is JSON") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)

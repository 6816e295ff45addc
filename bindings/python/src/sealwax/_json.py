"""Strict JSON: refuses values that languages read differently."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from ._errors import InvalidArgument, Malformed


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


# With options other than their defaults, json.dumps and json.loads make new ones for every call.
_decode = json.JSONDecoder(parse_constant=_refuse).decode
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
        return _decode(payload.decode())
    except (ValueError, RecursionError):
        raise Malformed("expected a payload that is JSON") from None

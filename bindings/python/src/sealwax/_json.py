"""Strict JSON: refuses values that languages read differently."""

from __future__ import annotations

import json
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any, NoReturn

from ._errors import InvalidArgument, Malformed

if TYPE_CHECKING:
    from collections.abc import Callable


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def unknown(value: object) -> NoReturn:
    """Refuse what JSON has no form for; by its type, for its ``__class__`` may be anything."""
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _writer(*, escapes: bool = False) -> Callable[[Any], str]:
    """Return the standard library's writer, made once.

    A `JSONEncoder` makes its writer in C anew for each value, which takes 0.8 µs of the 1.1 that a
    small value takes. Another Python may have none, or make it in another way.
    """
    encoder = json.JSONEncoder(
        ensure_ascii=escapes, allow_nan=False, separators=(",", ":"), default=unknown
    )
    told = [{"é": 1.5}]
    text = encode_basestring_ascii if escapes else encode_basestring
    try:
        write = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
            None, unknown, text, None, ":", ",", False, False, False
        )
        if "".join(write(told, 0)) == encoder.encode(told):
            return lambda value: "".join(write(value, 0))
    except (AttributeError, TypeError):
        pass
    return encoder.encode


# With options other than its defaults, json.loads makes a new decoder for every call.
_decode = json.JSONDecoder(parse_constant=_refuse).decode
_encode, _escaped = _writer(), _writer(escapes=True)


# The standard library's error holds the payload. What is raised while it is handled would keep it
# as its `__context__`.


def dumps(name: str, value: Any) -> bytes:
    """Write a value of the caller's."""
    try:
        return _encode(value).encode()
    except (ValueError, RecursionError) as error:
        why = str(error)
    raise InvalidArgument(f"{name}: expected a value that JSON can hold: {why}")


def document(value: Any) -> bytes:
    """Write a document for the core, which sees by an escape that a text is not Unicode."""
    return _escaped(value).encode()


def loads(payload: bytes) -> Any:
    """Read a payload."""
    try:
        return _decode(payload.decode())
    except (ValueError, RecursionError):
        pass
    raise Malformed("expected a payload that is JSON")

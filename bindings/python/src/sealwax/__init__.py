"""Seals the state that an MCP (Model Context Protocol) server hands to its clients.

A :class:`Codec` holds the keys and the name of a service. Its :meth:`Codec.view` is for one
authenticated principal, and gives a :class:`Sealer` for each kind of token, :class:`Sessions`, and
session ids and handles. A :class:`SealwaxError` is for the server's log; :func:`answer` gives the
client's answer. Options are keywords; times are Unix times, seconds unless the name says ``_ms``.
"""

from ._codec import Codec
from ._errors import (
    EntropyUnavailable,
    Expired,
    InternalError,
    InvalidArgument,
    InvalidKey,
    Malformed,
    NotYetValid,
    PrincipalMismatch,
    Refused,
    SealwaxError,
    TooLarge,
    Unauthentic,
    UnknownKey,
    Unsupported,
    WrongPurpose,
)
from ._identifiers import Handle, SessionId
from ._keys import Key, KeyRing
from ._native import version as __version__
from ._sealer import Opened, Sealer
from ._sessions import Session, SessionMetadata, Sessions
from ._view import View
from ._wire import (
    Inspected,
    Principal,
    Profile,
    TokenFields,
    answer,
    inspect,
    principal_from_claims,
    request_context,
    token_fields,
)

__all__ = [
    "Codec",
    "EntropyUnavailable",
    "Expired",
    "Handle",
    "Inspected",
    "InternalError",
    "InvalidArgument",
    "InvalidKey",
    "Key",
    "KeyRing",
    "Malformed",
    "NotYetValid",
    "Opened",
    "Principal",
    "PrincipalMismatch",
    "Profile",
    "Refused",
    "Sealer",
    "SealwaxError",
    "Session",
    "SessionId",
    "SessionMetadata",
    "Sessions",
    "TokenFields",
    "TooLarge",
    "Unauthentic",
    "UnknownKey",
    "Unsupported",
    "View",
    "WrongPurpose",
    "__version__",
    "answer",
    "inspect",
    "principal_from_claims",
    "request_context",
    "token_fields",
]

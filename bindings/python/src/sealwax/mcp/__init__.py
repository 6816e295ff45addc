"""Sealed ``requestState``, cursors, handles and sessions on the official Python SDK of MCP.

One :class:`Guard` protects an ``MCPServer``, a low-level ``Server`` or a FastMCP. It seals the
members of results that carry a token, and opens and checks the tokens of requests before any
handler runs. ``pip install 'sealwax[mcp]'``.
"""

try:
    import mcp.server.request_state as _sdk  # noqa: F401 - in 2.x, not in 1.x
except ImportError as _missing:
    raise ImportError(
        "sealwax.mcp: expected the official MCP SDK, mcp 2.3 or later: pip install 'sealwax[mcp]'"
    ) from _missing

from .. import Principal, principal_from_claims
from ._accept import Accept, Presented
from ._envelope import EnvelopeCodec
from ._guard import Guard
from ._handler.handles import (
    OpenedHandle,
    Origin,
    ReferenceHandle,
    ReferenceHandles,
    SelfContainedHandle,
    SelfContainedHandles,
)
from ._handler.session import SESSION_META_KEY, Session
from ._handler.sessions import Initial, Required, Sessions
from ._hooks import GuardEvent, Kind, OnEvent, OnRefused, Refusal
from ._principal import Anonymous, PrincipalOf, principal_from_access_token
from ._refusal import AcceptUnavailable, HandleRefused, NotAccepted
from ._transition import Transition, opener_of
from ._transport.negotiated import Negotiated

__all__ = [
    "SESSION_META_KEY",
    "Accept",
    "AcceptUnavailable",
    "Anonymous",
    "EnvelopeCodec",
    "Guard",
    "GuardEvent",
    "HandleRefused",
    "Initial",
    "Kind",
    "Negotiated",
    "NotAccepted",
    "OnEvent",
    "OnRefused",
    "OpenedHandle",
    "Origin",
    "Presented",
    "Principal",
    "PrincipalOf",
    "ReferenceHandle",
    "ReferenceHandles",
    "Refusal",
    "Required",
    "SelfContainedHandle",
    "SelfContainedHandles",
    "Session",
    "Sessions",
    "Transition",
    "opener_of",
    "principal_from_access_token",
    "principal_from_claims",
]

"""Sealed ``requestState``, cursors, handles and sessions on the official Python SDK of MCP.

One :class:`Guard` protects an ``MCPServer``, a low-level ``Server`` or a FastMCP. It seals the
members of results that carry a token, and opens and checks the tokens of requests before any
handler runs. ``pip install 'sealwax[mcp]'``.
"""

try:
    from ._guard import Guard
except ImportError as _missing:
    from importlib import metadata as _metadata

    _found = [
        f"{one.name} {one.version}"
        for one in _metadata.distributions()
        if one.name in ("mcp", "fastmcp")
    ]
    raise ImportError(
        "sealwax.mcp: expected the official MCP SDK, mcp 1.13 or later, but not 2.0 to 2.2, "
        f"found {' and '.join(sorted(_found)) or 'none'}: pip install 'sealwax[mcp]'"
    ) from _missing

from .. import Principal, principal_from_claims
from ._handler.handles import (
    OpenedHandle,
    Origin,
    ReferenceHandle,
    ReferenceHandles,
    SelfContainedHandle,
    SelfContainedHandles,
)
from ._handler.links import Links, OpenedLink
from ._handler.session import SESSION_META_KEY, Session
from ._handler.sessions import Initial, Required, Sessions
from ._hooks import Kind, OnEvent, OnRefused, Refusal, TokenEvent
from ._options import QuestionOf
from ._principal import Anonymous, PrincipalOf, principal_from_access_token
from ._refusal import HandleRefused, LedgerUnavailable, LinkRefused, NotAccepted
from ._transport.negotiated import Negotiated

__all__ = [
    "SESSION_META_KEY",
    "Anonymous",
    "Guard",
    "HandleRefused",
    "Initial",
    "Kind",
    "LedgerUnavailable",
    "LinkRefused",
    "Links",
    "Negotiated",
    "NotAccepted",
    "OnEvent",
    "OnRefused",
    "OpenedHandle",
    "OpenedLink",
    "Origin",
    "Principal",
    "PrincipalOf",
    "QuestionOf",
    "ReferenceHandle",
    "ReferenceHandles",
    "Refusal",
    "Required",
    "SelfContainedHandle",
    "SelfContainedHandles",
    "Session",
    "Sessions",
    "TokenEvent",
    "principal_from_access_token",
    "principal_from_claims",
]

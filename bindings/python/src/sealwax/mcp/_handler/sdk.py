"""Installs a guard's boundary in each kind of server."""

from __future__ import annotations

import sys
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server._otel import OpenTelemetryMiddleware
from mcp.server.lowlevel import Server
from mcp.server.request_state import (
    AESGCMRequestStateCodec,
    RequestStateBoundary,
    RequestStateSecurity,
    authenticated_principal,
)
from mcp_types import CallToolResult

from ... import InvalidArgument
from .._refusal import ArgumentsRefused, HandleRefused
from .boundary import Boundary, outermost
from .peer import SdkPeer

if TYPE_CHECKING:
    from mcp.server.context import HandlerResult, ServerRequestContext

    from .._caller import GuardConfig
    from .._options import EngineFactory
    from .sessions import Sessions


def install(
    config: GuardConfig, engines: EngineFactory, sessions: Sessions | None, server: Any
) -> None:
    """Install a guard's boundary in place of the SDK's."""
    low, refused = low_level(server), HandleRefused
    if _is_fastmcp(server):
        from .fastmcp import Confirmed, FastMCPHandleRefused

        refused = FastMCPHandleRefused
        if server._request_state_security is not None:
            raise _not_beside()
    middleware = low.middleware
    if any(isinstance(one, Boundary) for one in middleware):
        raise InvalidArgument("server: expected one without a guard, found one: protect it once")
    theirs = [one for one in middleware if isinstance(one, RequestStateBoundary)]
    # Of a low-level server, the SDK installs none.
    if len(theirs) != (low is not server):
        raise InvalidArgument(
            f"server: expected {int(low is not server)} RequestStateBoundary among the middleware "
            f"of a {type(server).__name__}, found {len(theirs)}: leave that to the guard, or tell "
            f"us if you added none (mcp {metadata.version('mcp')})"
        )
    boundary = Boundary(config, engines, partial(SdkPeer, low), refused)
    if theirs:
        _expect_default(theirs[0]._security)
        middleware[middleware.index(theirs[0])] = boundary
    else:
        # In the SDK's order: inside of the tracing, so that spans hold sealed tokens only.
        tracing = bool(middleware) and isinstance(middleware[0], OpenTelemetryMiddleware)
        middleware.insert(int(tracing), boundary)
    _answer_for_handles(low)
    if config.confirms and _is_fastmcp(server):
        server.add_middleware(Confirmed(config))
    if sessions is not None:
        sessions.install(low)
        if _is_fastmcp(server):
            # Its models drop the capabilities that they do not know.
            middleware.insert(0, outermost)


def low_level(server: Any) -> Server[Any]:
    """Return the low-level server that a server is made of."""
    if isinstance(server, MCPServer):
        return server._lowlevel_server
    low = server._mcp_server if _is_fastmcp(server) else server
    if isinstance(low, Server):
        return low
    kind = f"{type(server).__module__}.{type(server).__qualname__}"
    raise TypeError(
        "server: expected an MCPServer or a Server of mcp 2.3 or later, or a FastMCP of FastMCP 4, "
        f"found a {kind}, and mcp {metadata.version('mcp')}"
    )


def _is_fastmcp(server: Any) -> bool:
    # FastMCP is optional: a server of it exists only if its package was imported.
    fastmcp = sys.modules.get("fastmcp")
    return fastmcp is not None and isinstance(server, fastmcp.FastMCP)


def _expect_default(security: RequestStateSecurity) -> None:
    """Raise for an author's own policy, which would be replaced silently.

    Of the SDK's default policy, only the key is not known.
    """
    codec = security.codec
    found = (security.ttl, security.audience, security.bind_principal, type(codec))
    default = (600.0, None, authenticated_principal, AESGCMRequestStateCodec)
    if found != default or len(getattr(codec, "_ring", ())) != 1:
        raise _not_beside()


def _not_beside() -> InvalidArgument:
    return InvalidArgument(
        "server: expected one without request_state_security: leave it out, for the guard seals "
        "requestState, with its codec's keys and request_state_ttl"
    )


def _answer_for_handles(server: Server[Any]) -> None:
    """Turn a refused handle, or refused arguments, into the tool's result.

    This is done at the handler, within the SDK's chain, so that the result gets its usual envelope.
    """
    entry = server.get_request_handler("tools/call")
    if entry is None:
        return

    async def answered(ctx: ServerRequestContext[Any, Any], params: Any) -> HandlerResult:
        try:
            return await entry.handler(ctx, params)
        except (ArgumentsRefused, HandleRefused) as refused:
            return CallToolResult.model_validate(refused.tool_result)

    server.add_request_handler("tools/call", entry.params_type, answered)

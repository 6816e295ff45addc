"""The guard in each kind of server of mcp 2, and how it asks a client there."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any, Literal

from mcp.server import MCPServer
from mcp.server._otel import OpenTelemetryMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.lowlevel import Server
from mcp.server.request_state import (
    AESGCMRequestStateCodec,
    RequestStateBoundary,
    RequestStateSecurity,
    authenticated_principal,
)
from mcp.shared.message import ServerMessageMetadata
from mcp_types import CallToolResult, ElicitResult, Request

from ... import InvalidArgument
from .._principal import user_of
from .._refusal import ArgumentsRefused, HandleRefused
from .._transport.message import members_of
from .exchange import Boundary, outermost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import HandlerResult, ServerRequestContext

    from .._caller import Caller
    from .._options import GuardConfig
    from .sessions import Sessions


def install(config: GuardConfig, sessions: Sessions | None, server: Any) -> None:
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
    boundary = Boundary(config, partial(SdkPeer, low), refused)
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


class Elicitation(Request[dict[str, Any], Literal["elicitation/create"]]):
    """A form, with no member that only later revisions have."""

    method: Literal["elicitation/create"] = "elicitation/create"


class SdkPeer:
    """The client of a call."""

    def __init__(
        self, server: Server[Any], config: GuardConfig, ctx: ServerRequestContext[Any, Any]
    ) -> None:
        self._server, self._ctx = server, ctx
        # Who answers is not seen here. Over HTTP another user may know the session, unless the SDK
        # binds it to a credential, as it does where it has checked one.
        self._answers_itself = (
            ctx.request is None
            or config.principal == "anonymous"
            or isinstance(user_of(ctx), AuthenticatedUser)
        )

    @property
    def capabilities(self) -> Any:
        """What it said that it can do: in the call, or before 2026-07-28 at ``initialize``."""
        capabilities = self._ctx.session.client_capabilities
        return capabilities and members_of(capabilities)

    @property
    def can_be_asked(self) -> bool:
        """Whether it can be sent a request while the call waits, and nobody else answers it."""
        return self._answers_itself and self._ctx.session.can_send_request

    async def list_tools(self, params: Mapping[str, Any]) -> Any:
        """Return a page of the server's own list of tools for this client, around the guard."""
        entry = self._server.get_request_handler("tools/list")
        if entry is None:
            raise LookupError("tools/list")
        given = {**params, "_meta": (self._ctx.params or {}).get("_meta")}
        ctx = replace(self._ctx, method="tools/list", params=given)
        return members_of(await entry.handler(ctx, entry.params_type.model_validate(given)))

    async def elicit(self, params: Mapping[str, Any], _caller: Caller) -> Any:
        """Ask its user, on the call's own stream."""
        request: Any = Elicitation(params={**params})
        metadata = ServerMessageMetadata(related_request_id=self._ctx.request_id)
        session = self._ctx.session
        return members_of(await session.send_request(request, ElicitResult, metadata=metadata))

"""What mcp 2 has and mcp 1 has not, or by another name."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.exceptions import McpError
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import INVALID_PARAMS, CallToolResult, ErrorData, RequestParams
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = [
    "HANDSHAKE_PROTOCOL_VERSIONS",
    "INVALID_PARAMS",
    "MCP_PROTOCOL_VERSION_HEADER",
    "SPEC_CLIENT_METHODS",
    "SPEC_CLIENT_NOTIFICATION_METHODS",
    "CallToolResult",
    "ErrorData",
    "MCPError",
    "RequestBodyLimitMiddleware",
    "RequestParams",
    "ServerRequestContext",
]

HANDSHAKE_PROTOCOL_VERSIONS = SUPPORTED_PROTOCOL_VERSIONS
# Its models take no member by the field's name in Python.
SPEC_CLIENT_METHODS: frozenset[str] = frozenset()
SPEC_CLIENT_NOTIFICATION_METHODS = SPEC_CLIENT_METHODS


class MCPError(McpError):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(ErrorData(code=code, message=message, data=data))


@dataclass
class ServerRequestContext:
    """The context of a message before its handler runs: what `principal` and `initial` get."""

    method: str
    params: dict[str, Any] | None
    #: ``None`` for a notification.
    request_id: Any
    #: The HTTP request, if there is one.
    request: Any = None
    session: Any = None
    lifespan_context: Any = None
    #: How the guard asks the client.
    peer: Any = None
    protocol_version: str = HANDSHAKE_PROTOCOL_VERSIONS[-1]

    def __class_getitem__(cls, _types: Any) -> Any:
        return cls


class RequestBodyLimitMiddleware:
    """Hands a body over whole, and refuses one that is too large."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app, self._limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        whole, more = b"", True
        while more:
            part = await receive()
            if part["type"] != "http.request":
                return
            whole, more = whole + part.get("body", b""), part.get("more_body", False)
            if len(whole) > self._limit:
                refused = Response(status_code=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                await refused(scope, receive, send)
                return
        given: list[Message] = [{"type": "http.request", "body": whole}]

        async def replay() -> Message:
            return given.pop() if given else await receive()

        await self._app(scope, replay, send)

"""What mcp 2 has and mcp 1 has not, or by another name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp.server.streamable_http import MCP_PROTOCOL_VERSION_HEADER as MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.exceptions import McpError
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import ErrorData

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

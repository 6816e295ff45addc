"""What the guard takes from the SDK, of mcp 2 or of mcp 1."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

#: Whether the SDK is mcp 2.
IS_SECOND = find_spec("mcp_types") is not None

if TYPE_CHECKING or IS_SECOND:
    from mcp.server.context import ServerRequestContext
    from mcp.shared.exceptions import MCPError
    from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
    from mcp_types.methods import SPEC_CLIENT_METHODS, SPEC_CLIENT_NOTIFICATION_METHODS
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
else:
    from ._former.sdk_types import (
        HANDSHAKE_PROTOCOL_VERSIONS,
        MCP_PROTOCOL_VERSION_HEADER,
        SPEC_CLIENT_METHODS,
        SPEC_CLIENT_NOTIFICATION_METHODS,
        MCPError,
        ServerRequestContext,
    )

__all__ = [
    "HANDSHAKE_PROTOCOL_VERSIONS",
    "IS_SECOND",
    "MCP_PROTOCOL_VERSION_HEADER",
    "SPEC_CLIENT_METHODS",
    "SPEC_CLIENT_NOTIFICATION_METHODS",
    "MCPError",
    "ServerRequestContext",
]

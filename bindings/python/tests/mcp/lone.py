"""A server of one tool, in the three ways that Python has: for what no whole server need have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import mcp_types as types
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.tools import ToolResult
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context  # noqa: TC002 - read when the tool is made

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sealwax.mcp import Guard

SYSTEMS = ("mcpserver", "lowlevel", "fastmcp")


class Lone:
    """Builds the server, for :func:`wire.app`: its tool ``it`` is a function of the context.

    `handlers` are of methods of the author's own, functions of context and params.
    """

    def __init__(
        self,
        guard: Guard,
        it: Callable[[Any], Awaitable[Any]],
        handlers: dict[str, Any] | None = None,
    ) -> None:
        self._guard, self._it, self._handlers = guard, it, handlers or {}

    def mcpserver(self, _of: Any, **options: Any) -> Any:
        server: MCPServer[Any] = MCPServer("lone", **options)

        async def it(ctx: Context) -> types.CallToolResult | types.InputRequiredResult:
            told = await self._it(ctx)
            asks = types.CallToolResult | types.InputRequiredResult
            return told if isinstance(told, asks) else _result(told)

        server.tool()(it)
        return self._protected(server, server._lowlevel_server)

    def fastmcp(self, _of: Any, **options: Any) -> Any:
        server: FastMCP[Any] = FastMCP("lone", **options)

        async def it(ctx: FastContext) -> Any:
            told = await self._it(ctx)
            if isinstance(told, types.Result | ToolResult):
                return told
            return ToolResult(content=json.dumps(told), structured_content=told)

        server.tool(it)
        return self._protected(server, server._mcp_server)

    def lowlevel(self, _of: Any, **_options: Any) -> Any:
        async def call(ctx: Any, _params: types.CallToolRequestParams) -> Any:
            told = await self._it(ctx)
            return told if isinstance(told, types.Result) else _result(told)

        async def tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
            return types.ListToolsResult(
                tools=[types.Tool(name="it", input_schema={"type": "object"})]
            )

        server: Server[Any] = Server("lone", on_call_tool=call, on_list_tools=tools)
        return self._protected(server, server)

    def _protected(self, server: Any, low: Server[Any]) -> Any:
        for method, handler in self._handlers.items():
            low.add_request_handler(method, types.RequestParams, handler)
        self._guard.protect(server)
        return server


def _result(told: Any) -> types.CallToolResult:
    content: Any = [types.TextContent(text=json.dumps(told))]
    return types.CallToolResult(content=content, structured_content=told)

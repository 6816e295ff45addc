"""Servers of mcp 2 and of FastMCP 4, for the scenario server: their handlers are one function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from sealwax.mcp._handler.sdk import low_level
from sealwax.mcp._transport.exchange import Transport
from sealwax.mcp._transport.stdio import serve

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from sealwax.mcp import Guard

MODERN = "2026-07-28"
CACHED = {"cacheScope": "private", "ttlMs": 0}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
PARAMS: dict[str, Any] = {
    "tools/call": types.CallToolRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    **dict.fromkeys(LISTS, types.PaginatedRequestParams),
    **dict.fromkeys(("demo/play", "demo/things/list"), types.RequestParams),
}
MAKERS: dict[str, Any] = {"mcpserver": MCPServer, "lowlevel": Server, "fastmcp": FastMCP}
ROUTE = {MCPServer: "streamable_http_path", Server: "streamable_http_path", FastMCP: "path"}
STREAMS = ("lines", "stream")
READY: dict[str, Any] = {"systems": list(MAKERS)}


class Served:
    """A protected server of one kind."""

    def __init__(self, guard: Guard, system: str, transport: dict[str, Any], handle: Any) -> None:
        self._guard, self._transport = guard, transport
        self._server = MAKERS[system]("play")
        self._low = low_level(self._server)

        async def handled(ctx: Any, _params: Any) -> Any:
            return await handle(ctx, ctx.method, ctx.params or {}, demanded(ctx))

        for method, params in PARAMS.items():
            self._low.add_request_handler(method, params, handled)
        noted: Any = types.NotificationParams
        self._low.add_notification_handler("notifications/demo", noted, handled)
        guard.protect(self._server)

    async def open(self, stack: AsyncExitStack) -> dict[str, Any]:
        """Return the applications of HTTP, started, by their paths."""
        make = getattr(self._server, "http_app", None) or self._server.streamable_http_app
        apps = {}
        for path in ("/plain", "/wrapped"):
            app = make(stateless_http=True, **{ROUTE[type(self._server)]: path})
            if path == "/wrapped":
                app = self._guard.asgi(app, **self._transport)
            await stack.enter_async_context(app.router.lifespan_context(app))
            apps[path] = app
        return apps

    async def on_lines(self, reader: Any, writer: Any) -> None:
        ttl, idle = self._transport.get("ttl"), self._transport.get("idle")
        times: Any = {"ttl": ttl, "idle": idle}
        transport = Transport(self._guard, required=False, sep1359=True, **times)
        lines = SocketLines(reader, writer)
        await serve(self._low, transport, lines, lines)

    async def on_stream(self, reader: Any, writer: Any) -> None:
        lines: Any = SocketLines(reader, writer)
        async with stdio_server(lines, lines) as (reads, writes):
            await self._low.run(reads, writes, self._low.create_initialization_options())


def demanded(ctx: Any) -> dict[str, Any]:
    """Return what every result has in the newest revision."""
    if ctx.protocol_version != MODERN:
        return {}
    cached = {} if ctx.method in ("tools/call", "prompts/get") else CACHED
    return {"resultType": "complete", **cached}


class SocketLines:
    """A socket's streams, as the files that stdio has."""

    def __init__(self, reader: Any, writer: Any) -> None:
        self._reader, self._writer = reader, writer

    async def readline(self) -> bytes:
        line: bytes = await self._reader.readline()
        return line

    async def __aiter__(self) -> Any:
        while line := await self.readline():
            yield line.decode()

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        await self._writer.drain()

"""A server with data-layer sessions, in the three ways that Python has."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.tools import ToolResult
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context

import sealwax
from sealwax.ledger import Memory
from sealwax.mcp import Guard, Principal, Sessions

AUDIENCE = "https://tally.example.com"
ISSUER = "https://idp.example.com"
TOOLS = ("agreed", "count", "peek")


def codec(keys: str, **limits: Any) -> sealwax.Codec:
    return sealwax.Codec(keys=keys, audience=AUDIENCE, **limits)


class Tally:
    """The tools."""

    def __init__(self, guard: Guard, **options: Any) -> None:
        given = {"initial": lambda _ctx: {"count": 0}, "required": {"tools": ["count"]}, **options}
        self.guard = guard
        self.sessions: Sessions = guard.sessions(**given)

    def __call__(self, tool: str, ctx: Any) -> dict[str, Any]:
        if tool == "agreed":
            agreed = self.guard.negotiated(ctx)
            version = getattr(ctx, "request_context", ctx).protocol_version
            return {"agreed": None if agreed is None else asdict(agreed), "version": version}
        session = self.sessions.of(ctx)
        if session is None:
            return {"session": None}
        was = session.value
        if tool == "count":
            session.write({"count": was["count"] + 1})
        return {"was": was, "value": session.value}


def lowlevel(of: Tally, **_options: Any) -> Server[Any]:
    async def call(ctx: Any, params: types.CallToolRequestParams) -> Any:
        return _result(of(params.name, ctx))

    async def tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in TOOLS]
        )

    server = Server("tally", on_call_tool=call, on_list_tools=tools)
    of.guard.protect(server)
    return server


def mcpserver(of: Tally, **options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("tally", **options)

    _tools(of, server.tool, Context, _result)
    of.guard.protect(server)
    return server


def fastmcp(of: Tally, **options: Any) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("tally", **options)

    def result(told: Any) -> ToolResult:
        return ToolResult(content=json.dumps(told), structured_content=told)

    _tools(of, server.tool, FastContext, result)
    of.guard.protect(server)
    return server


def _result(told: Any) -> types.CallToolResult:
    content: Any = [types.TextContent(text=json.dumps(told))]
    return types.CallToolResult(content=content, structured_content=told)


def _tools(of: Tally, tool: Any, context: Any, result: Any) -> None:
    def register(name: str) -> None:
        async def run(ctx: Any) -> Any:
            return result(of(name, ctx))

        returns = ToolResult if context is FastContext else types.CallToolResult
        run.__annotations__.update({"ctx": context, "return": returns})
        tool(name=name)(run)

    for name in TOOLS:
        register(name)


SYSTEMS: dict[str, Any] = {"mcpserver": mcpserver, "lowlevel": lowlevel, "fastmcp": fastmcp}


def serve(pipes: list[Any], environment: dict[str, str], system: str) -> None:
    """Serve the two pipes as stdio, in a process that was forked."""
    for number, pipe in enumerate(pipes):
        os.dup2(pipe.detach(), number)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.stdin = os.fdopen(0)
    sys.argv[1:] = [system]
    os.environ.clear()
    os.environ.update(environment)
    main()


def main() -> None:
    guard = Guard(
        codec=codec(os.environ["SEALWAX_KEYS"]),
        principal=lambda _ctx: Principal(ISSUER, "cli-7", "alice"),
        ledger=Memory(),
        # Sessions outlive the process, and its memory.
        ledger_options={"accept_issued_since": 1},
    )
    anyio.run(partial(guard.run_stdio, SYSTEMS[sys.argv[1]](Tally(guard)), ttl=60))

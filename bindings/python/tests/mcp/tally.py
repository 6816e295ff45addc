"""A server with data-layer sessions, in the three ways that Python has.

Run as a program it serves stdio: `tally.py SYSTEM`, keys and user in the environment.
"""

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
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

import sealwax
from sealwax.ledger import Memory, SQLite
from sealwax.mcp import Guard, Principal, Sessions

AUDIENCE = "https://tally.example.com"
ISSUER = "https://idp.example.com"
TOOLS = ("agreed", "count", "peek", "spoil", "sulk", "fill", "fork")


def codec(keys: str, **limits: Any) -> sealwax.Codec:
    return sealwax.Codec(keys=keys, audience=AUDIENCE, **limits)


class Tally:
    """The tools. `ran` names those that ran."""

    def __init__(self, guard: Guard, **options: Any) -> None:
        given = {"initial": lambda _ctx: {"count": 0}, "required": {"tools": ["count"]}, **options}
        self.guard = guard
        self.ran: list[str] = []
        self.versions: list[str] = []
        self.sessions: Sessions = guard.sessions(**given)

    def __call__(self, tool: str, ctx: Any, size: int = 0) -> dict[str, Any]:
        self.ran.append(tool)
        if tool == "agreed":
            self.versions.append(getattr(ctx, "request_context", ctx).protocol_version)
            agreed = self.guard.negotiated(ctx)
            return {"agreed": None if agreed is None else asdict(agreed)}
        session = self.sessions.of(ctx)
        if session is None:
            return {"session": None}
        if tool == "fork":
            return {"session": session.fork()}
        told = {"ulid": session.ulid, "generation": session.generation, "was": session.value}
        if tool != "peek":
            count = session.value["count"] + 1
            session.write({"count": count, **({"pad": "x" * size} if size else {})})
        if tool == "spoil":
            raise MCPError(-32000, "spoilt")
        return {**told, "value": session.value}


def lowlevel(of: Tally, **_options: Any) -> Server[Any]:
    async def call(ctx: Any, params: types.CallToolRequestParams) -> Any:
        told = of(params.name, ctx, **(params.arguments or {}))
        content: Any = [types.TextContent(text=json.dumps(told))]
        return types.CallToolResult(
            content=content,
            structured_content=told,
            is_error=params.name == "sulk",
            _meta={"example.com/kept": True},
        )

    async def tools(ctx: Any, _params: Any) -> types.ListToolsResult:
        of.ran.append(f"list {of.sessions.of(ctx)}")
        return types.ListToolsResult(
            tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in TOOLS]
        )

    server = Server("tally", on_call_tool=call, on_list_tools=tools)
    of.guard.protect(server)
    return server


def mcpserver(of: Tally, **options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("tally", **options)

    def result(name: str, told: Any) -> types.CallToolResult:
        return types.CallToolResult(
            content=[types.TextContent(text=json.dumps(told))],
            structured_content=told,
            is_error=name == "sulk",
            _meta={"example.com/kept": True},
        )

    _tools(of, server.tool, Context, result)
    of.guard.protect(server)
    return server


def fastmcp(of: Tally, **options: Any) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("tally", **options)

    def result(name: str, told: Any) -> ToolResult:
        return ToolResult(
            content=json.dumps(told),
            structured_content=told,
            is_error=name == "sulk",
            meta={"example.com/kept": True},
        )

    _tools(of, server.tool, FastContext, result)
    of.guard.protect(server)
    return server


def _tools(of: Tally, tool: Any, context: Any, result: Any) -> None:
    def register(name: str) -> None:
        async def run(ctx: Any, size: int = 0) -> Any:
            return result(name, of(name, ctx, size))

        run.__annotations__.update({"ctx": context, "size": int, "return": types.CallToolResult})
        if context is FastContext:
            run.__annotations__["return"] = ToolResult
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
    user = os.environ.get("SHOP_USER")
    guard = Guard(
        codec=codec(os.environ["SEALWAX_KEYS"]),
        principal=lambda _ctx: Principal(ISSUER, "cli-7", user),
        ledger=SQLite(os.environ["LEDGER"]) if "LEDGER" in os.environ else Memory(),
        # Sessions outlive the process, and its memory.
        ledger_options={"accept_issued_since": 1},
    )
    of, system = Tally(guard), sys.argv[1]
    idle = int(os.environ["IDLE"]) if "IDLE" in os.environ else None
    server = SYSTEMS[system](of)
    if "SEP1359" in os.environ:
        ttl = int(os.environ["SEP1359"])
        anyio.run(partial(guard.run_stdio, server, ttl=ttl, idle=idle))
    elif isinstance(server, Server):
        anyio.run(_stdio, server)
    else:
        server.run(**({"show_banner": False} if system == "fastmcp" else {}))


async def _stdio(server: Server[Any]) -> None:
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


if __name__ == "__main__":
    main()

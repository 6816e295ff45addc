"""Servers of mcp 1, and of a FastMCP that stands on it. As a program it serves stdio."""

import sys
from importlib import metadata
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

import sealwax
from sealwax.mcp import Guard, HandleRefused

AUDIENCE = "https://notes.example.com"


def by_header(ctx: Any) -> sealwax.Principal | None:
    """Return who calls: a header stands for the authentication in front."""
    name = ctx.request.headers.get("x-user") if ctx.request is not None else "local"
    return None if name is None else sealwax.Principal(subject=name)


class World:
    """A guard, and what the tools of its servers do."""

    def __init__(self, keys: str, **more: Any) -> None:
        codec = sealwax.Codec(keys=sealwax.KeyRing.parse(keys), audience=AUDIENCE)
        self.refused: list[tuple[str, str]] = []

        def on_refused(refusal: Any) -> None:
            self.refused.append((refusal.code, refusal.kind))

        self.guard = Guard(
            codec=codec, **{"principal": by_header, "on_refused": on_refused, **more}
        )
        self.guard.confirm("drop", "Drop {what}?")
        #: What was dropped.
        self.dropped: list[str] = []
        self.baskets = self.guard.self_contained_handles("basket")

    async def fill(self, ctx: Any, basket: str | None) -> str:
        """Put one more thing into a basket."""
        if basket is None:
            return (await self.baskets.seal(ctx, 1)).handle
        held = await self.baskets.open(ctx, basket)
        return (await self.baskets.renew(ctx, held, held.value + 1)).handle

    def drop(self, what: str) -> str:
        """Drop something, as its user agreed."""
        self.dropped.append(what)
        return "dropped"

    def state(self, ctx: Any) -> str:
        """Seal a state, or tell the one that came."""
        opened = self.guard.opened(ctx)
        return str(opened) if opened is not None else self.guard.state(ctx, {"asked": 7})

    def negotiated(self, ctx: Any) -> str:
        """Tell who the client is."""
        found = self.guard.negotiated(ctx)
        return "nothing" if found is None else found.client_info["name"]


def low_level(world: World) -> Server:
    """Return a protected low-level server."""
    server: Any = Server("low")
    tools: dict[str, Any] = {
        "fill": lambda ctx, given: world.fill(ctx, given.get("basket")),
        "drop": lambda _, given: world.drop(given["what"]),
        "state": lambda ctx, _: world.state(ctx),
        "negotiated": lambda ctx, _: world.negotiated(ctx),
    }

    async def call_tool(request: types.CallToolRequest) -> types.ServerResult:
        try:
            said = tools[request.params.name](
                server.request_context, request.params.arguments or {}
            )
            text = said if isinstance(said, str) else await said
        except HandleRefused as refused:
            return types.ServerResult(types.CallToolResult.model_validate(refused.tool_result))
        content = [types.TextContent(type="text", text=text)]
        return types.ServerResult(types.CallToolResult(content=content))

    server.request_handlers[types.CallToolRequest] = call_tool
    world.guard.protect(server)
    return server


def with_tools(server: Any, world: World, context: Any) -> Any:
    """Return a protected FastMCP with its tools."""

    async def fill(ctx: Any, basket: str | None = None) -> str:
        return await world.fill(ctx, basket)

    def negotiated(ctx: Any) -> str:
        return world.negotiated(ctx)

    world.guard.protect(server)
    server.tool()(world.drop)
    for tool in (fill, negotiated):
        tool.__annotations__["ctx"] = context
        server.tool()(tool)
    return server


def of_mcp(world: World, **settings: Any) -> Any:
    """Return the FastMCP of mcp 1."""
    from mcp.server.fastmcp import Context, FastMCP

    return with_tools(FastMCP("notes", **settings), world, Context)


def of_fastmcp(world: World, **settings: Any) -> Any:
    """Return that of FastMCP 2 or 3."""
    from fastmcp import Context, FastMCP

    return with_tools(FastMCP("notes", **settings), world, Context)


#: The major version of FastMCP, if it is here.
MAJOR = next((one.version[0] for one in metadata.distributions() if one.name == "fastmcp"), None)
KINDS: dict[str, Any] = {"low-level": low_level, "mcp": of_mcp}
if MAJOR is not None:
    KINDS["fastmcp"] = of_fastmcp


async def on_streams(server: Server) -> None:
    """Serve stdio as the SDK's examples do."""
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


if __name__ == "__main__":
    made = KINDS[sys.argv[1]](World(sys.argv[2]))
    if isinstance(made, Server):
        anyio.run(on_streams, made)
    else:
        made.run()

"""Servers of mcp 1, and of a FastMCP that stands on it. As a program it serves stdio."""

import sys
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server

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
        self.baskets = self.guard.self_contained_handles("basket")
        self.sessions = self.guard.sessions(initial=lambda _ctx: 0)

    async def fill(self, ctx: Any, basket: str | None) -> str:
        """Put one more thing into a basket."""
        if basket is None:
            return (await self.baskets.seal(ctx, 1)).handle
        held = await self.baskets.open(ctx, basket)
        return (await self.baskets.renew(ctx, held, held.value + 1)).handle

    def count(self, ctx: Any) -> str:
        """Count in the session."""
        session = self.sessions.of(ctx)
        if session is None:
            return "no session"
        session.write(session.value + 1)
        return str(session.value)

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
        "count": lambda ctx, _: world.count(ctx),
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

    async def list_resources(request: types.ListResourcesRequest) -> types.ServerResult:
        cursor = request.params.cursor if request.params else None
        one = types.Resource(uri="test://x", name=cursor or "first")
        return types.ServerResult(types.ListResourcesResult(resources=[one], nextCursor="page 2"))

    server.request_handlers[types.CallToolRequest] = call_tool
    server.request_handlers[types.ListResourcesRequest] = list_resources
    world.guard.protect(server)
    return server


def with_tools(server: Any, world: World, context: Any) -> Any:
    """Return a FastMCP, of mcp 1 or by itself, with its tools."""

    async def fill(ctx: Any, basket: str | None = None) -> str:
        return await world.fill(ctx, basket)

    def count(ctx: Any) -> str:
        return world.count(ctx)

    def negotiated(ctx: Any) -> str:
        return world.negotiated(ctx)

    for tool in (fill, count, negotiated):
        tool.__annotations__["ctx"] = context
        server.tool()(tool)
    return server


async def main(keys: str) -> None:
    """Serve stdio."""
    from mcp.server.stdio import stdio_server

    server = low_level(World(keys))
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])

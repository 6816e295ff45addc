"""One server in the three ways that Python has: what it does is the same, and so is its guard."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mcp_types as types
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.resources import TextResource as FastTextResource
from fastmcp.tools import ToolResult
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resources import TextResource

import sealwax

if TYPE_CHECKING:
    from sealwax.mcp import Guard

SYSTEMS = ("mcpserver", "lowlevel", "fastmcp")
AUDIENCE = "https://shop.example.com"
ISSUER = "https://idp.example.com"
PAGE = 10
QUESTION = types.ElicitRequest(
    params=types.ElicitRequestFormParams(
        message="Sure?",
        requested_schema={"type": "object", "properties": {"sure": {"type": "boolean"}}},
    )
)


def codec(keys: str) -> sealwax.Codec:
    return sealwax.Codec(keys=keys, audience=AUDIENCE)


@dataclass
class Shop:
    """The tools. `ran` names the handlers that ran."""

    guard: Guard
    max_age: int = 3600

    def __post_init__(self) -> None:
        self.ran: list[str] = []
        self.rows = self.guard.reference_handles("basket", max_age=self.max_age)
        self.held = self.guard.self_contained_handles("order", ttl=self.max_age)

    def ask(self, ctx: Any, id: int, pad: int) -> types.InputRequiredResult | dict[str, Any]:
        """Ask once; then tell the state that came back, and that it was read as it was written."""
        self.ran.append("ask")
        state = self.guard.opened(ctx)
        if state is not None:
            return {"id": id, "state": state}
        return types.InputRequiredResult(
            input_requests={"sure": QUESTION},
            request_state=self.guard.state(ctx, {"asked": id, "pad": "x" * pad}),
        )

    async def mint(self, ctx: Any) -> dict[str, Any]:
        made = await self.rows.mint(ctx)
        return {"handle": made.handle, "ulid": made.ulid, "expiresAt": made.expires_at}

    async def check(self, ctx: Any, handle: str) -> dict[str, Any]:
        found = await self.rows.check(ctx, handle)
        self.ran.append("check")
        return {"ulid": found.ulid, "expiresAt": found.expires_at}

    async def end(self, ctx: Any, handle: str) -> dict[str, Any]:
        await self.rows.end(ctx, handle)
        return {}

    async def seal(self, ctx: Any, items: list[str]) -> dict[str, Any]:
        made = await self.held.seal(ctx, items)
        return {"handle": made.handle, "expiresAt": made.expires_at}

    async def open(self, ctx: Any, handle: str) -> dict[str, Any]:
        found = await self.held.open(ctx, handle)
        self.ran.append("open")
        return {"items": found.value, "generation": found.opened.generation}

    async def add(self, ctx: Any, handle: str, item: str) -> dict[str, Any]:
        found = await self.held.open(ctx, handle)
        made = await self.held.renew(ctx, found, [*found.value, item])
        return {"handle": made.handle, "expiresAt": made.expires_at}

    async def end_order(self, ctx: Any, handle: str) -> dict[str, Any]:
        await self.held.end(ctx, handle)
        return {}


def told(value: Any) -> Any:
    """Return what a low-level tool returns."""
    if isinstance(value, types.InputRequiredResult):
        return value
    return types.CallToolResult(
        content=[types.TextContent(text=json.dumps(value))], structured_content=value
    )


def lowlevel(shop: Shop) -> Server[Any]:
    """The SDK's low-level server; its lists are in pages by its own cursor."""

    async def call(ctx: Any, params: types.CallToolRequestParams) -> Any:
        arguments = dict(params.arguments or {})
        if params.name == "ask":
            return told(shop.ask(ctx, arguments["id"], arguments.get("pad", 0)))
        return told(await getattr(shop, params.name)(ctx, **arguments))

    async def resources(ctx: Any, params: Any) -> types.ListResourcesResult:
        shop.ran.append("list")
        start = int((params and params.cursor) or 0)
        listed = [types.Resource(uri=f"item:///{n}", name=f"{n}") for n in range(25)]
        following = str(start + PAGE) if start + PAGE < 25 else None
        return types.ListResourcesResult(
            resources=listed[start : start + PAGE], next_cursor=following
        )

    async def tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        names = ("ask", "mint", "check", "end", "seal", "open", "add", "end_order")
        return types.ListToolsResult(
            tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in names]
        )

    async def prompt(ctx: Any, params: types.GetPromptRequestParams) -> Any:
        asked = shop.ask(ctx, int((params.arguments or {})["id"]), 0)
        if isinstance(asked, types.InputRequiredResult):
            return asked
        content = types.TextContent(text=json.dumps(asked))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    async def read(ctx: Any, params: types.ReadResourceRequestParams) -> Any:
        asked = shop.ask(ctx, 7, 0)
        if isinstance(asked, types.InputRequiredResult):
            return asked
        contents = types.TextResourceContents(uri=params.uri, text=json.dumps(asked))
        return types.ReadResourceResult(contents=[contents])

    server = Server(
        "shop",
        on_call_tool=call,
        on_list_tools=tools,
        on_list_resources=resources,
        on_get_prompt=prompt,
        on_read_resource=read,
    )
    shop.guard.protect(server)
    return server


def mcpserver(shop: Shop, **options: Any) -> MCPServer[Any]:
    async def in_pages(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        if ctx.method != "resources/list":
            return result
        shop.ran.append("list")
        start = int((ctx.params or {}).get("cursor") or 0)
        page = {**result, "resources": result["resources"][start : start + PAGE]}
        if start + PAGE < len(result["resources"]):
            page["nextCursor"] = str(start + PAGE)
        return page

    server: MCPServer[Any] = MCPServer("shop", middleware=[in_pages], **options)
    for number in range(25):
        uri = f"item:///{number}"
        server.add_resource(TextResource(uri=uri, name=str(number), text=""))

    async def ask(
        ctx: Context, id: int, pad: int = 0
    ) -> types.CallToolResult | types.InputRequiredResult:
        return told(shop.ask(ctx, id, pad))  # type: ignore[no-any-return]

    async def quiz(ctx: Context, id: str) -> str | types.InputRequiredResult:
        asked = shop.ask(ctx, int(id), 0)
        return asked if isinstance(asked, types.InputRequiredResult) else json.dumps(asked)

    async def read(ctx: Context, name: str) -> str | types.InputRequiredResult:
        asked = shop.ask(ctx, 7, 0)
        return asked if isinstance(asked, types.InputRequiredResult) else json.dumps(asked)

    server.tool()(ask)
    server.prompt()(quiz)
    server.resource("secret:///{name}")(read)
    _tools(shop, server.tool(), Context)
    shop.guard.protect(server)
    return server


def fastmcp(shop: Shop, **options: Any) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("shop", list_page_size=PAGE, **options)
    for number in range(25):
        uri: Any = f"item:///{number}"
        server.add_resource(FastTextResource(uri=uri, name=str(number), text=""))

    async def ask(ctx: FastContext, id: int, pad: int = 0) -> Any:
        asked = shop.ask(ctx, id, pad)
        if isinstance(asked, types.InputRequiredResult):
            return asked
        return ToolResult(content=json.dumps(asked), structured_content=asked)

    async def quiz(ctx: FastContext, id: str) -> Any:
        asked = shop.ask(ctx, int(id), 0)
        return asked if isinstance(asked, types.InputRequiredResult) else json.dumps(asked)

    async def read(ctx: FastContext, name: str) -> Any:
        asked = shop.ask(ctx, 7, 0)
        return asked if isinstance(asked, types.InputRequiredResult) else json.dumps(asked)

    server.tool(ask)
    server.prompt(quiz)
    server.resource("secret:///{name}")(read)
    _tools(shop, server.tool, FastContext)
    shop.guard.protect(server)
    return server


def _tools(shop: Shop, tool: Any, context: Any) -> None:
    async def mint(ctx: Any) -> dict[str, Any]:
        return await shop.mint(ctx)

    async def check(ctx: Any, handle: str) -> dict[str, Any]:
        return await shop.check(ctx, handle)

    async def end(ctx: Any, handle: str) -> dict[str, Any]:
        return await shop.end(ctx, handle)

    async def seal(ctx: Any, items: list[str]) -> dict[str, Any]:
        return await shop.seal(ctx, items)

    async def open(ctx: Any, handle: str) -> dict[str, Any]:
        return await shop.open(ctx, handle)

    async def add(ctx: Any, handle: str, item: str) -> dict[str, Any]:
        return await shop.add(ctx, handle, item)

    async def end_order(ctx: Any, handle: str) -> dict[str, Any]:
        return await shop.end_order(ctx, handle)

    for function in (mint, check, end, seal, open, add, end_order):
        function.__annotations__["ctx"] = context
        tool(function)

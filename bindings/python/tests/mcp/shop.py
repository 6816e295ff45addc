"""One server in the three ways that Python has, behind a guard, with the official client."""

from __future__ import annotations

import inspect
import json
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
import wire
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.resources import TextResource
from fastmcp.tools import ToolResult
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context

import sealwax
from sealwax.mcp import Guard, Refusal, principal_from_access_token
from sealwax.mcp._handler.sdk import low_level

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp import Client

KEYS = str(sealwax.Key.generate().to_text())
SYSTEMS = ("mcpserver", "lowlevel", "fastmcp")
ALL = pytest.mark.parametrize("system", SYSTEMS)
AUDIENCE = "https://shop.example.com"
PAGE = 10
QUESTION = types.ElicitRequest(
    params=types.ElicitRequestFormParams(
        message="Sure?",
        requested_schema={"type": "object", "properties": {"sure": {"type": "boolean"}}},
    )
)


def codec() -> sealwax.Codec:
    return sealwax.Codec(keys=KEYS, audience=AUDIENCE)


def view() -> sealwax.View:
    """What a replica in another language has of alice."""
    return codec().view(**wire.principal("alice")._asdict())


def guard(**options: Any) -> Guard:
    return Guard(**{"codec": codec(), "principal": "anonymous", **options})


class Shop:
    """The server, for :func:`wire.app`, with tools of its own or with those of a test.

    `handlers` are of methods of the author's own. `ran` names the tools that ran.
    """

    def __init__(
        self,
        guard: Guard,
        *tools: Any,
        handlers: dict[str, Any] | None = None,
        sessions: Any = None,
    ) -> None:
        self.guard, self.ran = guard, list[str]()
        self.rows = guard.reference_handles("basket", max_age=3600)
        self.held = guard.self_contained_handles("order", ttl=3600)
        if sessions is not None:
            self.sessions = guard.sessions(**{"initial": lambda _ctx: {"count": 0}, **sessions})
        own = (
            self.ask,
            self.mint,
            self.check,
            self.end,
            self.seal,
            self.open,
            self.count,
            self.agreed,
        )
        self._tools = {tool.__name__: tool for tool in tools or own}
        self._handlers = handlers or {}

    async def ask(self, ctx: Any, id: int) -> Any:
        """Ask once; then tell the state that came back."""
        self.ran.append("ask")
        state = self.guard.opened(ctx)
        if state is not None:
            return {"id": id, "state": state}
        sealed = self.guard.state(ctx, {"asked": id})
        return types.InputRequiredResult(input_requests={"sure": QUESTION}, request_state=sealed)

    async def mint(self, ctx: Any) -> Any:
        return asdict(await self.rows.mint(ctx))

    async def check(self, ctx: Any, handle: str) -> Any:
        found = await self.rows.check(ctx, handle)
        self.ran.append("check")
        return {"ulid": found.ulid}

    async def end(self, ctx: Any, handle: str) -> Any:
        await self.rows.end(ctx, handle)
        return {}

    async def seal(self, ctx: Any) -> Any:
        return asdict(await self.held.seal(ctx, ["tea"]))

    async def open(self, ctx: Any, handle: str) -> Any:
        return {"items": (await self.held.open(ctx, handle)).value}

    async def count(self, ctx: Any) -> Any:
        session = self.sessions.of(ctx)
        assert session is not None
        session.write({"count": session.value["count"] + 1})
        return session.value

    async def agreed(self, ctx: Any) -> Any:
        agreed = self.guard.negotiated(ctx)
        version = getattr(ctx, "request_context", ctx).protocol_version
        return {"agreed": agreed and asdict(agreed), "version": version}

    async def quiz(self, ctx: Any, id: str) -> Any:
        asked = await self.ask(ctx, int(id))
        return asked if isinstance(asked, types.Result) else json.dumps(asked)

    async def secret(self, ctx: Any, name: str) -> Any:
        return await self.quiz(ctx, "7" * len(name))

    async def listed(self, ctx: Any, params: Any) -> types.ListResourcesResult:
        start = int((params and params.cursor) or 0)
        found = [types.Resource(uri=f"item:///{n}", name=f"{n}") for n in range(25)]
        following = str(start + PAGE) if start + PAGE < 25 else None
        return types.ListResourcesResult(
            resources=found[start : start + PAGE], next_cursor=following
        )

    def mcpserver(self, **options: Any) -> Any:
        server: MCPServer[Any] = MCPServer("shop", **options)
        for tool in self._tools.values():
            server.tool()(typed(tool, Context, types.CallToolResult | types.InputRequiredResult))
        for decorate, function in (
            (server.prompt(), self.quiz),
            (server.resource("secret:///{name}"), self.secret),
        ):
            decorate(typed(function, Context, str | types.InputRequiredResult, lambda it: it))
        return self._protected(server)

    def fastmcp(self, **options: Any) -> Any:
        server: FastMCP[Any] = FastMCP("shop", list_page_size=PAGE, **options)
        for number in range(25):
            uri: Any = f"item:///{number}"
            server.add_resource(TextResource(uri=uri, name=str(number), text=""))
        for tool in self._tools.values():
            server.tool(typed(tool, FastContext, Any, of_fastmcp))
        server.prompt(typed(self.quiz, FastContext, Any, lambda it: it))
        server.resource("secret:///{name}")(typed(self.secret, FastContext, Any, lambda it: it))
        return self._protected(server)

    def lowlevel(self) -> Any:
        async def call(ctx: Any, params: types.CallToolRequestParams) -> Any:
            return result(await self._tools[params.name](ctx, **(params.arguments or {})))

        async def tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
            schema = {"type": "object"}
            return types.ListToolsResult(
                tools=[types.Tool(name=name, input_schema=schema) for name in self._tools]
            )

        return self._protected(Server("shop", on_call_tool=call, on_list_tools=tools))

    def _protected(self, server: Any) -> Any:
        low = low_level(server)
        if not isinstance(server, FastMCP):
            low.add_request_handler("resources/list", types.PaginatedRequestParams, self.listed)
        for method, handler in self._handlers.items():
            low.add_request_handler(method, types.RequestParams, handler)
        self.guard.protect(server)
        return server


def result(told: Any) -> Any:
    """Return what a tool returns: a text, JSON, or a result as it is."""
    if isinstance(told, types.Result):
        return told
    content: Any = [types.TextContent(text=told if isinstance(told, str) else json.dumps(told))]
    structured = None if isinstance(told, str) else told
    return types.CallToolResult(content=content, structured_content=structured)


def of_fastmcp(told: Any) -> Any:
    if isinstance(told, types.Result):
        return told
    made = result(told)
    return ToolResult(content=made.content, structured_content=made.structured_content)


def typed(function: Any, context: Any, returns: Any, made: Callable[[Any], Any] = result) -> Any:
    """Return a function with the signature that an SDK makes a schema of."""

    async def run(**given: Any) -> Any:
        return made(await function(**given))

    signature = inspect.signature(function)
    annotations = {name: one.annotation for name, one in signature.parameters.items()}
    run.__annotations__ = {**annotations, "ctx": context, "return": returns}
    run.__name__ = run.__doc__ = function.__name__
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            one.replace(annotation=run.__annotations__[name])
            for name, one in signature.parameters.items()
        ],
        return_annotation=returns,
    )
    return run


def answering(of: Guard, answers: Callable[[Any], Any]) -> MCPServer[Any]:
    """Return a server with a middleware that answers by a function, unless that gives nothing."""
    server: MCPServer[Any] = MCPServer("shop")

    async def answered(ctx: Any, call_next: Any) -> Any:
        return answers(ctx) or await call_next(ctx)

    server.middleware.append(answered)
    of.protect(server)
    return server


class Served:
    """A shop that is served, what its guard refused, and alice's client."""

    def __init__(self, url: str, shop: Shop, refusals: list[Refusal], client: Client) -> None:
        self.url, self.shop, self.refusals, self.client = url, shop, refusals, client
        self.guard = shop.guard

    @property
    def codes(self) -> list[str]:
        return [refusal.code for refusal in self.refusals]

    async def raw(self, method: str, params: Any = None, **more: Any) -> dict[str, Any]:
        return await wire.raw(self.url, method, params, **more)


@asynccontextmanager
async def served(
    system: str = "mcpserver",
    *tools: Any,
    mode: str = "2026-07-28",
    wrapped: bool = False,
    shop: dict[str, Any] | None = None,
    app: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Served]:
    """Serve it over HTTP; `shop` and `app` are options of these, all others the guard's."""
    refusals: list[Refusal] = []
    told = {"principal": principal_from_access_token, "on_refused": refusals.append}
    of = Shop(guard(**{**told, **options}), *tools, **(shop or {}))
    made = wire.app(system, of, **(app or {}))
    with wire.listening(of.guard.asgi(made) if wrapped else made) as url:
        async with wire.over_http(url, "alice", mode=mode) as client:
            yield Served(url, of, refusals, client)

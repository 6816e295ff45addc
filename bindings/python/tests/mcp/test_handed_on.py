"""What the glue hands on between the SDK, the engine and the author, and what it must not."""

from __future__ import annotations

import asyncio
import contextvars
import json
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import environment
import mcp_types as types
import pytest
import tally
import wire
from carriers import view
from http_sessions import KEYS, Served
from ledgers import Wrapped, memory
from lone import Lone
from mcp import Client
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from processes import agreed, refused

import sealwax
from sealwax.mcp import SESSION_META_KEY, Guard, Negotiated, Principal, Refusal
from sealwax.mcp._transport.message import Transport
from sealwax.mcp._transport.stdio import serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sealwax.ledger import Command

pytestmark = pytest.mark.anyio
ALICE = wire.principal("alice")
NOBODYS: Any = None
CALL: dict[str, Any] = {"name": "it", "arguments": {}}


def guard(principal: Any = "anonymous", **options: Any) -> Guard:
    return Guard(codec=tally.codec(KEYS), principal=principal, **options)


async def test_the_time_for_which_a_revocation_is_kept() -> None:
    ledger = Wrapped(memory())
    of = guard(ledger=ledger)
    await of.revoke("anonymous", retain_for=60)
    await of.revoke("anonymous")
    kept = [one["args"][0] for one in ledger.asked if one["script"] == "revoke"]
    assert kept[0] == "60"
    assert int(kept[1]) > 400 * 86_400


async def test_idle_is_of_stdio_too() -> None:
    with pytest.raises(sealwax.InvalidArgument, match="idle"):
        await guard().run_stdio(MCPServer[Any]("shop"), idle=60)


async def test_two_handles_at_a_time_ask_for_one_principal() -> None:
    asked: list[str] = []

    async def principal(ctx: Any) -> Principal:
        asked.append(ctx.method)
        await anyio.lowlevel.checkpoint()
        return ALICE

    async def tools(ctx: Any, _params: Any) -> types.ListToolsResult:
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(baskets.mint, ctx)
        return types.ListToolsResult(tools=[])

    of = guard(principal)
    baskets = of.reference_handles("basket")
    server: Server[Any] = Server("shop", on_list_tools=tools)
    of.protect(server)
    async with Client(server) as client:
        assert (await client.list_tools()).tools == []
    assert asked == ["tools/list"]


async def test_who_begins_a_session_is_asked_for_once() -> None:
    """Also where the server asks first, before the session begins with the answer."""
    asked: list[str] = []

    def principal(ctx: Any) -> Principal:
        asked.append(ctx.method)
        return ALICE

    async def minting(ctx: Any, call_next: Any) -> Any:
        await baskets.mint(ctx)
        return await call_next(ctx)

    of = guard(principal)
    baskets = of.reference_handles("basket")
    server: MCPServer[Any] = MCPServer("shop")
    server.middleware.append(minting)
    of.protect(server)
    with wire.listening(of.asgi(server.streamable_http_app(stateless_http=True))) as url:
        told = await Served(url).initialize()
    assert told.headers["mcp-session-id"]
    assert asked == ["initialize"]


async def test_a_request_that_is_cancelled_while_the_principal_is_asked_is_no_refusal() -> None:
    refusals: list[Refusal] = []
    asked, left = anyio.Event(), anyio.Event()

    async def principal(_ctx: Any) -> Principal:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            left.set()
        return ALICE

    async def it(_ctx: Any) -> Any:
        raise AssertionError

    of = guard(principal, on_refused=refusals.append)
    async with Client(Lone(of, it).mcpserver(None)) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "it", {})
            await asked.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(60):
            await left.wait()
        await client.list_tools()
    assert refusals == []


async def test_what_a_middleware_answers_as_an_error_is_one() -> None:
    """The answer to a request of a session is looked at."""

    async def answering(ctx: Any, call_next: Any) -> Any:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        return types.ErrorData(code=-32000, message="the middleware's own")

    of = guard()
    of.sessions(initial=lambda _ctx: 0)
    server: MCPServer[Any] = MCPServer("shop")
    server.middleware.append(answering)
    of.protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        session = (await wire.raw(url, "sessions/create", {}))["result"]["session"]
        params = {**CALL, "_meta": {SESSION_META_KEY: session}}
        told = await wire.raw(url, "tools/call", params, name="it")
    assert told["error"] == {"code": -32000, "message": "the middleware's own"}


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("system", ["mcpserver", "lowlevel", "fastmcp"])
async def test_the_server_says_that_it_has_sessions(system: str, revision: str) -> None:
    async def it(_ctx: Any) -> Any:
        raise AssertionError

    of = guard()
    of.sessions(initial=lambda _ctx: 0)
    info = {"name": "raw", "version": "0"}
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}
    method = "initialize" if revision == "2025-11-25" else "server/discover"
    with wire.listening(wire.app(system, None, where=Lone(of, it))) as url:
        told = await wire.raw(url, method, params, revision=revision)
    capabilities = told["result"]["capabilities"]
    assert capabilities["sessions"] == capabilities["experimental"]["sessions"] == {}
    assert "tools" in capabilities


@pytest.mark.parametrize(
    "options",
    [
        {"required": {"methods": ["tools/list"]}},
        {"required": {"method": ["tools/call"]}},
        {"required": {"tools": "count"}},
        {"required": ["tools/call"]},
        {"initial": None},
        {"held_by_server": True},
        {"ttl": 0},
    ],
)
def test_a_mistake_about_sessions_is_told_at_once(options: Any) -> None:
    with pytest.raises(sealwax.InvalidArgument, match="expected"):
        guard().sessions(**{"initial": lambda _ctx: 0, **options})


def test_sessions_are_asked_for_once_and_before_the_server_is_protected() -> None:
    of = guard()
    of.sessions(initial=lambda _ctx: 0)
    with pytest.raises(sealwax.InvalidArgument, match="once"):
        of.sessions(initial=lambda _ctx: 0)
    of = guard()
    of.protect(Server("shop"))
    with pytest.raises(sealwax.InvalidArgument, match="before"):
        of.sessions(initial=lambda _ctx: 0)


async def test_the_first_value_is_what_the_authors_function_gives() -> None:
    async def initial(ctx: Any) -> Any:
        assert ctx.method == "sessions/create"
        return next(gives)

    gives = iter([{"count": 40}, object()])
    of = guard()
    of.sessions(initial=initial)
    server: MCPServer[Any] = MCPServer("shop")
    of.protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        first, second = [await wire.raw(url, "sessions/create", {}) for _ in range(2)]
    opened = tally.codec(KEYS).view(anonymous=True).sessions().open(first["result"]["session"])
    assert opened.json() == {"count": 40}
    assert second["error"] == {"code": -32603, "message": "Internal error"}


async def test_an_error_of_the_first_values_function_is_the_clients() -> None:
    def initial(_ctx: Any) -> Any:
        raise MCPError(-32000, "full")

    of = guard()
    of.sessions(initial=initial)
    server: MCPServer[Any] = MCPServer("shop")
    of.protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        told = await wire.raw(url, "sessions/create", {})
    assert told["error"] == {"code": -32000, "message": "full"}


async def test_the_wrapper_of_another_guard_does_not_say_who_asks() -> None:
    """Each has its own principal, though one is around the other."""

    async def it(ctx: Any) -> dict[str, Any]:
        return {"handle": (await of.reference_handles("basket").mint(ctx)).handle}

    of, around = guard(lambda _ctx: ALICE), guard(lambda _ctx: wire.principal("bob"))
    app = Lone(of, it).mcpserver(None).streamable_http_app(stateless_http=True)
    with wire.listening(around.asgi(app)) as url:
        served = Served(url)
        told = await served.send(session=await served.session(), params={"name": "it"})
    handle = wire.told(told.text)["result"]["structuredContent"]["handle"]
    view(tally.codec(KEYS), ALICE).verify_handle("basket", handle)


class Late(Wrapped):
    """Takes all of its time for each command, by the guard's clock, and answers at the second."""

    now = 1000 * int(time.time())

    async def run(self, command: Command, /) -> list[str]:
        reply = await super().run(command)
        self.now += command["withinMs"]
        environment._preloaded.environment_stop_clock(self.now)
        if self.count("admit") % 2:
            raise ConnectionError
        return reply


async def test_the_time_that_the_wrapper_took_is_not_the_handlers_again() -> None:
    with environment.at(Late.now):
        ledger = Late(memory())
        of = guard(lambda _ctx: ALICE, ledger=ledger, time_limit=1)
        cursor = view(tally.codec(KEYS), ALICE).cursor("tools/list").seal(b"2")
        server: MCPServer[Any] = MCPServer("shop")
        of.protect(server)
        with wire.listening(of.asgi(server.streamable_http_app(stateless_http=True))) as url:
            served = Served(url)
            session = await served.session()
            ledger.asked.clear()
            await served.send("tools/list", session, params={"cursor": cursor})
    assert [one["withinMs"] for one in ledger.asked] == [300, 300, 300, 100]


class OnStdio:
    """A client of stdio in this process."""

    def __init__(self, sends: Any, hears: Any) -> None:
        self._sends, self._hears = sends, hears

    async def say(self, method: str, **members: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": {}, **members}
        await self._sends.send(json.dumps(message) + "\n")

    async def hear(self) -> dict[str, Any]:
        with anyio.fail_after(60):
            heard: dict[str, Any] = json.loads(await self._hears.receive())
        return heard

    async def ask(self, method: str, **members: Any) -> dict[str, Any]:
        await self.say(method, **{"id": 1, **members})
        return await self.hear()


@asynccontextmanager
async def on_stdio(of: Guard, server: MCPServer[Any]) -> AsyncIterator[OnStdio]:
    sends, reads = anyio.create_memory_object_stream[str](8)
    writes, hears = anyio.create_memory_object_stream[str](8)
    lines = wire.Lines(reads, writes)
    transport = Transport(of, of._engines, required=False, ttl=None, sep1359=True)
    async with anyio.create_task_group() as group:
        group.start_soon(serve, server._lowlevel_server, transport, lines, lines)
        yield OnStdio(sends, hears)
        group.cancel_scope.cancel()


async def test_what_was_negotiated_on_stdio_is_known_to_the_sdk_alone() -> None:
    seen: list[Negotiated | None] = []

    async def it(ctx: Any) -> dict[str, Any]:
        seen.append(of.negotiated(ctx))
        return {}

    of = guard(lambda _ctx: ALICE)
    async with on_stdio(of, Lone(of, it).mcpserver(None)) as client:
        told = await client.ask("tools/call", params=CALL, sessionId=agreed())
    assert not told["result"]["isError"]
    assert seen == [None]


async def test_a_session_begins_once_for_all_its_messages_on_stdio() -> None:
    served: list[str] = []

    async def noting(ctx: Any, call_next: Any) -> Any:
        served.append(ctx.method)
        return await call_next(ctx)

    of = guard(lambda _ctx: ALICE)
    server: MCPServer[Any] = MCPServer("shop")
    server.middleware.append(noting)
    of.protect(server)
    session = agreed()
    async with on_stdio(of, server) as client:
        for _ in range(2):
            assert (await client.ask("ping", sessionId=session))["result"] == {"sessionId": session}
    assert served == ["initialize", "notifications/initialized", "ping", "ping"]


async def test_what_the_server_says_by_itself_is_of_the_last_session_on_stdio() -> None:
    """Also after a message that has none."""
    last = anyio.Event()

    async def it(ctx: Any) -> dict[str, Any]:
        await last.wait()
        note = ctx.session.send_tool_list_changed()
        await asyncio.create_task(note, context=contextvars.Context())
        return {}

    of = guard(lambda _ctx: ALICE)
    session = agreed()
    async with on_stdio(of, Lone(of, it).mcpserver(None)) as client:
        await client.say("tools/call", id=1, params=CALL, sessionId=session)
        assert (await client.ask("ping", id=2))["id"] == 2
        last.set()
        said = await client.hear()
    assert (said.get("method"), said.get("sessionId")) == (
        "notifications/tools/list_changed",
        session,
    )


async def test_an_id_that_is_none_is_refused() -> None:
    of = guard(lambda _ctx: ALICE)
    server: MCPServer[Any] = MCPServer("shop")
    of.protect(server)
    async with on_stdio(of, server) as client:
        for identity in (True, 1.5, [7], None):
            told = await client.ask("ping", id=identity, sessionId="x")
            assert (told["id"], told["error"]["code"]) == (None, -32600)
        told = await client.ask("ping", id="mine", sessionId="x")
        assert told == refused("x", "mine")
        # Nor is a message that the SDK cannot read left without an answer.
        told = await client.ask("tools/list", id="x", params=7, sessionId=agreed())
        assert told["error"] == {"code": -32600, "message": "Invalid Request"}


async def test_a_body_comes_whole_or_is_refused() -> None:
    """It may come in parts, and its client may leave meanwhile."""
    given: list[bytes] = []

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        part = await receive()
        given.append(part["body"])
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body"})

    async def statuses(*parts: bytes) -> list[int]:
        received = [{"type": "http.request", "body": one, "more_body": True} for one in parts]
        if parts[-1].endswith(b"}"):
            received[-1]["more_body"] = False
        sent: list[Any] = []

        async def receive() -> Any:
            return received.pop(0) if received else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope: Any = {"type": "http", "method": "POST", "headers": []}
        await wrapped(scope, receive, send)
        return [one["status"] for one in sent if one["type"] == "http.response.start"]

    wrapped = guard().asgi(app, required=False, max_request_body_size=16)
    assert await statuses(b'{"method":', b'"x"}') == [200]
    assert given == [b'{"method":"x"}']
    assert await statuses(b'{"method":', b'"xxxxxx"}') == [413]
    assert await statuses(b'{"method":') == []


async def test_an_endpoint_that_fails_is_answered_for() -> None:
    refusals: list[Refusal] = []
    sent: list[Any] = []

    async def app(_scope: Any, _receive: Any, _send: Any) -> None:
        raise ConnectionResetError

    async def send(message: Any) -> None:
        sent.append(message)

    wrapped = guard(on_refused=refusals.append).asgi(app, required=False)
    scope: Any = {"type": "http", "method": "GET", "headers": []}
    with pytest.raises(ConnectionResetError):
        await wrapped(scope, NOBODYS, send)
    assert sent[0]["status"] == 500
    assert [one.message for one in refusals] == [
        "handler: expected a response, found ConnectionResetError"
    ]

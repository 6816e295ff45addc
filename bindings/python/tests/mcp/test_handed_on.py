"""What the glue hands on between the SDK, the engine and the author, and what it must not."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import environment
import mcp_types as types
import pytest
import wire
from carriers import created, meta
from ledgers import Wrapped, memory
from lines import agreed, on_stdio
from mcp import Client
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from shop import SYSTEMS, Shop, answering, guard, served, view

import sealwax
from sealwax.mcp import HandleRefused, Negotiated, Principal

if TYPE_CHECKING:
    from sealwax.ledger import Command

pytestmark = pytest.mark.anyio
ALICE = wire.principal("alice")
CALL: dict[str, Any] = {"name": "it", "arguments": {}}


async def test_the_time_for_which_a_revocation_is_kept() -> None:
    ledger = Wrapped(memory())
    of = guard(ledger=ledger)
    await of.revoke("anonymous", retain_for=60)
    await of.revoke("anonymous")
    # The engine may refuse it.
    with suppress(sealwax.InvalidArgument):
        await of.revoke("anonymous", retain_for=0)
    kept = [one["args"][0] for one in ledger.asked if one["script"] == "revoke"]
    assert kept[0] == "60"
    assert int(kept[1]) > 400 * 86_400
    assert all(one == "0" for one in kept[2:])


async def test_idle_is_of_stdio_too() -> None:
    with pytest.raises(sealwax.InvalidArgument, match="idle"):
        await guard().run_stdio(MCPServer[Any]("shop"), idle=60)


@pytest.mark.parametrize("found", [ALICE, None])
async def test_who_it_is_is_asked_once_for_a_request(found: Principal | None) -> None:
    """Also by two handles at a time, and if nobody is found."""
    asked, told = list[str](), list[HandleRefused]()

    async def principal(ctx: Any) -> Principal | None:
        asked.append(ctx.method)
        await anyio.lowlevel.checkpoint()
        return found

    async def own(ctx: Any, _params: Any) -> dict[str, Any]:
        async def mint() -> None:
            try:
                await of.shop.rows.mint(ctx)
            except HandleRefused as refused:
                told.append(refused)

        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(mint)
        return {}

    async with served(principal=principal, shop={"handlers": {"example/own": own}}) as of:
        assert "error" not in await of.raw("example/own")
    assert asked == ["example/own"]
    texts = [one.tool_result["content"][0]["text"] for one in told]
    assert texts == ["Authentication required"] * (0 if found else 2)


async def test_who_begins_a_session_of_the_transport_is_asked_once() -> None:
    """Also if it is asked at `initialize` already, before the wrapper has the answer."""
    asked = list[str]()

    async def minting(ctx: Any, call_next: Any) -> Any:
        await of.rows.mint(ctx)
        return await call_next(ctx)

    def principal(ctx: Any) -> Principal:
        asked.append(ctx.method)
        return ALICE

    of = Shop(guard(principal=principal))
    server = of.mcpserver(middleware=[minting])
    with wire.listening(of.guard.asgi(server.streamable_http_app(stateless_http=True))) as url:
        await wire.begun(url)
    assert asked == ["initialize"]


async def test_what_a_middleware_answers_as_an_error_is_one() -> None:
    """The answer to a request of a session is looked at."""
    of, error = guard(), types.ErrorData(code=-32000, message="the middleware's own")
    of.sessions(initial=lambda _ctx: 0)
    server = answering(of, lambda ctx: error if ctx.method == "tools/call" else None)
    with wire.listening(server) as url:
        session = (await wire.raw(url, "sessions/create"))["result"]["session"]
        told = await wire.raw(url, "tools/call", {**CALL, **meta(session)})
    assert told["error"] == {"code": -32000, "message": "the middleware's own"}


async def test_a_fastmcp_says_at_initialize_that_it_has_sessions() -> None:
    """Its models drop what they do not know."""
    info = {"name": "raw", "version": "0"}
    params = {"protocolVersion": wire.LEGACY, "capabilities": {}, "clientInfo": info}
    async with served("fastmcp", shop={"sessions": {}}) as of:
        told = await of.raw("initialize", params, revision=wire.LEGACY)
    capabilities = told["result"]["capabilities"]
    assert capabilities["sessions"] == capabilities["experimental"]["sessions"] == {}
    assert "tools" in capabilities


@pytest.mark.parametrize(
    "options",
    [
        {"required": {"methods": ["tools/list"]}},
        {"required": {"tools": "count"}},
        {"initial": None},
        {"held_by_server": True},
        {"ttl": 0},
    ],
)
def test_a_mistake_about_sessions_is_told_at_once(options: Any) -> None:
    of = guard()
    given: dict[str, Any] = {"initial": lambda _ctx: 0}
    with pytest.raises(sealwax.InvalidArgument, match="expected"):
        of.sessions(**{**given, **options})
    of.sessions(**given)
    with pytest.raises(sealwax.InvalidArgument, match="once"):
        of.sessions(**given)
    of.protect(MCPServer("shop"))
    with pytest.raises(sealwax.InvalidArgument, match="before"):
        of.sessions(**given)


async def test_the_first_value_is_what_the_authors_function_gives() -> None:
    gives: list[Any] = [MCPError(-32000, "full"), object(), {"count": 40}]

    async def initial(ctx: Any) -> Any:
        assert ctx.method == "sessions/create"
        value = gives.pop()
        if isinstance(value, MCPError):
            raise value
        return value

    async with served(shop={"sessions": {"initial": initial}}) as of:
        assert view().sessions().open(await created(of.client)).json() == {"count": 40}
        errors = [(await of.raw("sessions/create"))["error"] for _ in range(2)]
    assert errors == [
        {"code": -32603, "message": "Internal error"},
        {"code": -32000, "message": "full"},
    ]


async def test_the_wrapper_of_another_guard_does_not_say_who_asks() -> None:
    """Each has its own principal, though one is around the other."""
    of = Shop(guard(principal=lambda _ctx: ALICE))
    around = guard(principal=lambda _ctx: wire.principal("bob"))
    app = of.mcpserver().streamable_http_app(stateless_http=True)
    with wire.listening(around.asgi(app)) as url:
        told = await wire.in_session(url, "tools/call", {"name": "mint", "arguments": {}})
    view().verify_handle("basket", told["result"]["structuredContent"]["handle"])


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
        of = Shop(guard(principal=lambda _ctx: ALICE, ledger=ledger, time_limit=1))
        cursor = view().cursor("tools/list").seal(b"2")
        app = of.mcpserver().streamable_http_app(stateless_http=True)
        with wire.listening(of.guard.asgi(app)) as url:
            session = await wire.begun(url)
            ledger.asked.clear()
            await wire.post(
                url, "tools/list", {"cursor": cursor}, revision=wire.LEGACY, session=session
            )
    assert [one["withinMs"] for one in ledger.asked] == [300, 300, 300, 100]


@pytest.mark.parametrize("value", [2**53 + 1, "\ud800"])
@pytest.mark.parametrize("system", SYSTEMS[:2])
async def test_a_state_that_cannot_be_bound_is_an_error_for_the_model(
    system: str, value: Any
) -> None:
    async def it(ctx: Any, id: Any = None) -> Any:
        return types.InputRequiredResult(request_state=of.guard.state(ctx, 7))

    async with served(system, it) as of:
        told = await of.raw("tools/call", {"name": "it", "arguments": {"id": value}})
    assert told["result"]["isError"] is True
    text = told["result"]["content"][0]["text"]
    assert text.startswith('Invalid arguments. argument "id": expected')
    (refusal,) = of.refusals
    assert (refusal.kind, refusal.target) == ("request-state", "it")
    assert 'argument "id": expected' in refusal.message


async def test_a_session_on_stdio() -> None:
    """What the SDK cannot read is answered, and what was negotiated is known to it alone."""
    seen: list[Negotiated | None] = []

    async def it(ctx: Any) -> dict[str, Any]:
        seen.append(of.negotiated(ctx))
        return {}

    of = guard(principal=lambda _ctx: ALICE)
    async with on_stdio(of, Shop(of, it).mcpserver()) as client:
        for _ in range(2):
            told = await client.ask("tools/call", params=CALL, sessionId=agreed())
            assert not told["result"]["isError"]
        told = await client.ask("tools/list", id="x", params=7, sessionId=agreed())
        assert told["error"] == {"code": -32600, "message": "Invalid Request"}
    assert seen == [None, None]


async def test_who_asks_a_server_within_a_message_is_not_taken_from_one_on_stdio() -> None:
    """Neither from that message, nor from the line before."""
    asked: list[str] = []

    async def mints() -> bool:
        async with Client(inner) as client:
            return not (await client.call_tool("mint", {})).is_error

    async def principal(ctx: Any) -> Principal:
        asked.append((ctx.params or {}).get("name", ctx.method))
        if asked[-1] == "it":
            assert await mints()
        return ALICE

    async def it(ctx: Any) -> Any:
        return {"mints": await mints()}

    of = guard(principal=principal)
    inner = Shop(of).mcpserver()
    async with on_stdio(of, Shop(of, it).mcpserver()) as client:
        for _ in range(2):
            told = await client.ask("tools/call", params=CALL, sessionId=agreed())
            assert told["result"]["structuredContent"] == {"mints": True}
    assert asked == ["it", "mint", "mint"] * 2


async def test_a_body_whose_client_left_is_nobodys() -> None:
    """And a handler hears that its client leaves."""
    given: list[str] = []
    sent: list[Any] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        given.extend([(await receive())["type"] for _ in range(2)])

    async def send(message: Any) -> None:
        sent.append(message)

    wrapped = guard().asgi(app, required=False)
    for body in (b'{"method":', b'{"method":"x"}'):
        received = [{"type": "http.request", "body": body, "more_body": body[-1:] != b"}"}]

        async def receive(parts: Any = received) -> Any:
            return parts.pop() if parts else {"type": "http.disconnect"}

        await wrapped({"type": "http", "method": "POST", "headers": []}, receive, send)
    assert (given, sent) == (["http.request", "http.disconnect"], [])

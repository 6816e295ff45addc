"""The guard in each kind of server, and beside other middleware and servers."""

from __future__ import annotations

import json
from typing import Annotated, Any

import anyio
import mcp_types as types
import pytest
import shop
import wire
from carriers import SURE, Handle, HandleState, RequestState, outcome, plain, view
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from mcp import Client
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.request_state import (
    RequestStateBoundary,
    RequestStateSecurity,
)
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

import sealwax
from sealwax.mcp import (
    Guard,
    HandleRefused,
    Refusal,
    principal_from_access_token,
)
from sealwax.mcp._handler.servers import low_level

pytestmark = pytest.mark.anyio
KEYS = str(sealwax.Key.generate().to_text())


def guard() -> Guard:
    return Guard(codec=shop.codec(KEYS), principal="anonymous")


class Reversed:
    """A codec of the author's own."""

    def seal(self, payload: bytes) -> str:
        return payload[::-1].decode()

    def unseal(self, token: str) -> bytes:
        return token.encode()[::-1]


THEIRS = {
    "two keys": lambda: RequestStateSecurity(keys=["k" * 32, "l" * 32]),
    "a time": lambda: RequestStateSecurity(keys=["k" * 32], ttl=60),
    "an audience": lambda: RequestStateSecurity(keys=["k" * 32], audience="https://a.example"),
    "nobody": lambda: RequestStateSecurity(keys=["k" * 32], bind_principal=None),
    "a codec": lambda: RequestStateSecurity(codec=Reversed()),
}


@pytest.mark.parametrize("policy", THEIRS)
def test_a_policy_of_the_authors_beside_the_guard_is_an_error(policy: str) -> None:
    for server in (
        MCPServer("shop", request_state_security=THEIRS[policy]()),
        FastMCP("shop", request_state_security=THEIRS[policy]()),
    ):
        with pytest.raises(sealwax.InvalidArgument, match="without request_state_security: leave"):
            guard().protect(server)
    with pytest.raises(sealwax.InvalidArgument, match="without request_state_security: leave"):
        guard().protect(FastMCP("s", request_state_security=RequestStateSecurity(keys=["k" * 32])))


def test_a_boundary_that_the_author_added_is_an_error() -> None:
    low: Server[Any] = Server("shop")
    high: MCPServer[Any] = MCPServer("shop")
    for server in (low, high):
        security = RequestStateSecurity.ephemeral()
        server.middleware.append(RequestStateBoundary(security, default_audience="shop"))
        with pytest.raises(sealwax.InvalidArgument, match="RequestStateBoundary among"):
            guard().protect(server)


@pytest.mark.parametrize("make", [MCPServer, Server, FastMCP])
def test_one_guard_to_a_server(make: Any) -> None:
    server = make("shop")
    guard().protect(server)
    with pytest.raises(sealwax.InvalidArgument, match="protect it once"):
        guard().protect(server)


@pytest.mark.parametrize("system", shop.SYSTEMS)
async def test_an_author_who_forgot_to_protect_is_told_and_nothing_leaves(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = shop.Shop(Guard(codec=shop.codec(KEYS), principal=principal_from_access_token))
    with monkeypatch.context() as forgetful:
        forgetful.setattr(of.guard, "protect", lambda _server: None)
        app = wire.app(system, of)
    with wire.listening(app) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            told = [
                await RequestState().present(client, None),
                await outcome(client.call_tool("mint", {})),
                await outcome(client.call_tool("seal", {"items": []})),
            ]
    for one in told:
        assert "error" in one or one["isError"]
        assert "asked" not in json.dumps(one)


async def test_why_is_said_to_the_author() -> None:
    ours, found = guard(), []

    async def call() -> str:
        for use in (ours.opened, lambda ctx: ours.state(ctx, {"asked": 7})):
            with pytest.raises(sealwax.InvalidArgument, match=r"call guard\.protect\(server\)"):
                use(Context())
            with pytest.raises(sealwax.InvalidArgument, match=r"call guard\.protect\(server\)"):
                use(None)
            found.append(use)
        return "refused"

    async def other(ctx: Context) -> str:
        with pytest.raises(sealwax.InvalidArgument, match=r"call guard\.protect\(server\)"):
            guard().state(ctx, {"asked": 7})
        return ours.state(ctx, {"asked": 7})

    # Within a protected request too, where the context is not that of the request.
    server: MCPServer[Any] = MCPServer("shop")
    server.tool()(call)
    server.tool()(other)
    ours.protect(server)
    async with Client(server) as client:
        told = plain(await client.call_tool("other", {}))
        # A tool that shows it shows nothing.
        assert sealwax.inspect(told["content"][0]["text"]).kind == "request-state"
        told = plain(await client.call_tool("call", {}))
    assert told["content"][0]["text"] == await call() == "refused"
    assert len(found) == 4


async def test_another_server_in_the_same_process_is_not_protected_by_the_first() -> None:
    """A tool that calls an unprotected server must not lend it its guard."""
    ours, theirs = guard(), MCPServer("unprotected")
    found: list[BaseException] = []

    @theirs.tool()
    async def inner(ctx: Context) -> str:
        try:
            return ours.state(ctx, {"asked": 7})
        except sealwax.InvalidArgument as error:
            found.append(error)
            raise

    outer: MCPServer[Any] = MCPServer("protected")

    @outer.tool()
    async def relay(ctx: Context) -> str:
        assert sealwax.inspect(ours.state(ctx, {})).kind == "request-state"
        async with Client(theirs) as client:
            return str((await client.call_tool("inner", {})).is_error)

    ours.protect(outer)
    with wire.listening(outer.streamable_http_app(stateless_http=True)) as url:
        async with Client(url) as client:
            told = await client.call_tool("relay", {})
    assert plain(told)["content"][0]["text"] == "True"
    assert len(found) == 1


class Sure(BaseModel):
    sure: bool


async def confirmed(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"sure": True})


async def sure(id: int) -> Elicit[Sure]:
    return Elicit(f"Delete {id}?", Sure)


async def delete(id: int, answer: Annotated[Sure, Resolve(sure)]) -> str:
    return f"{id} {answer.sure}"


async def test_the_sdks_own_questions_pass_through_the_guard() -> None:
    """`Resolve` keeps its own state in requestState, which the author never sees."""
    server: MCPServer[Any] = MCPServer("shop")
    server.tool()(delete)
    guard().protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        async with Client(url, elicitation_callback=confirmed) as client:
            told = await client.call_tool("delete", {"id": 7})
            assert plain(told)["content"][0]["text"] == "7 True"
            asked = await client.session.call_tool("delete", {"id": 7}, allow_input_required=True)
            assert isinstance(asked, types.InputRequiredResult)
            assert str(asked.request_state).startswith("sw1.")
            stolen = client.session.call_tool(
                "delete",
                {"id": 8},
                input_responses=SURE,
                request_state=asked.request_state,
                allow_input_required=True,
            )
            assert await outcome(stolen) == RequestState.refusal


@pytest.mark.parametrize("system", shop.SYSTEMS)
@pytest.mark.parametrize("first", ["the guard", "the wrapper"])
async def test_a_wrapped_handler_verifies_nothing_a_second_time(system: str, first: str) -> None:
    """As in other SDKs it does, where the handler is what verifies."""
    ran: list[str] = []

    def wrap(server: Any) -> None:
        low = low_level(server)
        inner = low.get_request_handler("tools/call")
        assert inner is not None
        handler = inner.handler

        async def wrapped(ctx: Any, params: Any) -> Any:
            ran.append(params.name)
            return await handler(ctx, params)

        low.add_request_handler("tools/call", inner.params_type, wrapped)

    of = shop.Shop(Guard(codec=shop.codec(KEYS), principal=principal_from_access_token))
    protect = of.guard.protect

    def both(server: Any) -> None:
        for one in (wrap, protect) if first == "the wrapper" else (protect, wrap):
            one(server)

    of.guard.protect = both  # type: ignore[method-assign]
    with wire.listening(wire.app(system, of)) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            state = await RequestState().good(client)
            assert RequestState().taken(await RequestState().present(client, state))
            assert Handle.refusal["content"] == (await Handle().present(client, "x"))["content"]
    assert ran == ["ask", "ask", "check"]


@pytest.mark.parametrize("state", ["plain text", 7, "\ud800"])
async def test_what_a_middleware_answers_is_sealed_too(state: Any) -> None:
    """One that does not call the handler may return a model, or what no handler could."""
    refusals: list[Refusal] = []
    server: MCPServer[Any] = MCPServer("shop")

    async def answering(ctx: Any, call_next: Any) -> Any:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        if ctx.params.get("requestState") == "plain text":
            return {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
        if state == "plain text":
            asked: types.InputRequests = {"sure": shop.QUESTION}
            return types.InputRequiredResult(input_requests=asked, request_state=state)
        return {"resultType": "input_required", "requestState": state}

    server.middleware.append(answering)
    codec = shop.codec(KEYS)
    Guard(codec=codec, principal="anonymous", on_refused=refusals.append).protect(server)
    carrier = RequestState()
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        async with Client(url) as client:
            if state == "plain text":
                sealed = await carrier.good(client)
                assert sealed.startswith("sw1.")
                told = await carrier.present(client, sealed)
                assert told["content"][0]["text"] == "done"
            else:
                assert await carrier.present(client, None) == carrier.internal
                assert [refusal.code for refusal in refusals] == ["invalid_argument"]


async def test_a_request_state_is_its_users_whatever_is_said_of_caches() -> None:
    server: MCPServer[Any] = MCPServer("shop")
    asks = {"resultType": "input_required", "requestState": "mine", "cacheScope": "public"}

    async def answering(ctx: Any, call_next: Any) -> Any:
        return asks if ctx.method == "resources/read" else await call_next(ctx)

    server.middleware.append(answering)
    alice = wire.principal("alice")
    Guard(codec=shop.codec(KEYS), principal=lambda _ctx: alice).protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        told = await wire.raw(url, "resources/read", {"uri": "item:///1"}, name="item:///1")
    context = sealwax.request_context("resources/read", "item:///1")
    sealer = view(shop.codec(KEYS), alice).request_state(context)
    assert sealer.open(told["result"]["requestState"]).payload == b"mine"


async def test_a_tool_that_is_a_plain_function_runs_in_a_thread_and_is_served() -> None:
    of = shop.Shop(guard())
    server: MCPServer[Any] = MCPServer("shop")

    @server.tool()
    def ask(ctx: Context, id: int) -> types.CallToolResult | types.InputRequiredResult:
        return shop.told(of.ask(ctx, id, 0))  # type: ignore[no-any-return]

    of.guard.protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        async with Client(url, elicitation_callback=confirmed) as client:
            told = plain(await client.call_tool("ask", {"id": 7}))
    assert told["structuredContent"]["state"] == {"asked": 7, "pad": ""}


async def test_requests_at_once_keep_to_themselves() -> None:
    """One connection, many requests: each is opened and sealed for its own arguments."""
    of = shop.Shop(guard())
    asked: dict[int, Any] = {}
    with wire.listening(shop.mcpserver(of).streamable_http_app(stateless_http=True)) as url:
        async with Client(url) as client, anyio.create_task_group() as group:

            async def ask(id: int) -> None:
                more: dict[str, Any] = {"allow_input_required": True}
                first = await client.session.call_tool("ask", {"id": id}, **more)
                retry = {"input_responses": SURE, "request_state": first.request_state, **more}
                asked[id] = await client.session.call_tool("ask", {"id": id}, **retry)

            for number in range(20):
                group.start_soon(ask, number)
    for number, told in asked.items():
        assert plain(told)["structuredContent"]["state"] == {"asked": number, "pad": ""}
    assert len(asked) == 20


async def test_a_mounted_server_is_behind_the_guard_of_the_one_it_is_mounted_in() -> None:
    of = shop.Shop(guard())
    child: FastMCP[Any] = FastMCP("child")

    @child.tool
    async def open(ctx: FastContext, handle: str) -> Any:
        return await of.open(ctx, handle)

    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(child, namespace="shop")
    of.guard.protect(parent)
    view = shop.codec(KEYS).view(anonymous=True)
    handle = view.handle_state("order").seal(b'["tea"]')
    with wire.listening(parent.http_app(stateless_http=True)) as url:
        async with Client(url) as client:
            told = plain(await client.call_tool("shop_open", {"handle": handle}))
            assert told["structuredContent"]["items"] == ["tea"]
            refused = plain(await client.call_tool("shop_open", {"handle": handle[:-1]}))
            assert refused["content"] == HandleState.refusal["content"]
            assert refused["isError"]


async def test_masked_errors_leave_the_models_text_alone() -> None:
    of = shop.Shop(guard())
    server = shop.fastmcp(of, mask_error_details=True)
    with wire.listening(server.http_app(stateless_http=True)) as url:
        async with Client(url) as client:
            told = await Handle().present(client, "no handle")
    assert told["content"] == Handle.refusal["content"]


@pytest.mark.parametrize("system", ["mcpserver", "fastmcp"])
async def test_a_tool_may_do_otherwise(system: str) -> None:
    of = shop.Shop(guard())

    async def keep(ctx: Any, handle: str) -> str:
        try:
            return (await of.rows.check(ctx, handle)).ulid
        except HandleRefused as refused:
            why = refused.__cause__
            return f"a new one, for it was {why.code if isinstance(why, sealwax.Refused) else why}"

    keep.__annotations__["ctx"] = Context if system == "mcpserver" else FastContext
    server: Any
    if system == "mcpserver":
        server = shop.mcpserver(of)
        server.tool()(keep)
        app = server.streamable_http_app(stateless_http=True)
    else:
        server = shop.fastmcp(of)
        server.tool(keep)
        app = server.http_app(stateless_http=True)
    with wire.listening(app) as url:
        async with Client(url) as client:
            told = plain(await client.call_tool("keep", {"handle": "lost"}))
    assert not told.get("isError")
    assert told["content"][0]["text"] == "a new one, for it was malformed"


async def test_elsewhere_than_in_a_tool_a_refused_handle_is_a_protocol_error() -> None:
    of = shop.Shop(guard())
    server: MCPServer[Any] = MCPServer("shop")

    @server.resource("row:///{handle}")
    async def row(handle: str, ctx: Context) -> str:
        return (await of.rows.check(ctx, handle)).ulid

    of.guard.protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        async with Client(url) as client:
            with pytest.raises(MCPError) as raised:
                await client.read_resource("row:///lost")
    assert raised.value.code == types.INVALID_PARAMS
    assert raised.value.message == Handle.refusal["content"][0]["text"]

"""The guard in each kind of server, and beside other middleware and servers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any

import anyio
import mcp_types as types
import pytest
import shop
import wire
from carriers import HANDLE, HELD, STATE, SURE, call, carried, created, outcome, plain
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from mcp import Client
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from pydantic import BaseModel
from shop import Shop, answering, codec, guard, served

import sealwax
from sealwax.mcp import SESSION_META_KEY, HandleRefused
from sealwax.mcp._handler.sdk import low_level

pytestmark = pytest.mark.anyio


KEY = "k" * 32
THEIRS: list[dict[str, Any]] = [
    {"keys": [KEY, "l" * 32]},
    {"keys": [KEY], "ttl": 60},
    {"keys": [KEY], "audience": "https://a.example"},
    {"keys": [KEY], "bind_principal": None},
    {"codec": SimpleNamespace(seal=bytes.hex, unseal=bytes.fromhex)},
]


def test_a_policy_of_the_authors_beside_the_guard_is_an_error() -> None:
    made = [
        make("shop", request_state_security=RequestStateSecurity(**one))
        for make in (MCPServer, FastMCP)
        for one in THEIRS
    ]
    made.append(FastMCP("shop", request_state_security=RequestStateSecurity(keys=[KEY])))
    for server in made:
        with pytest.raises(sealwax.InvalidArgument, match="without request_state_security: leave"):
            guard().protect(server)
    security = RequestStateSecurity.ephemeral()
    for added in (Server[Any]("shop"), MCPServer[Any]("shop")):
        added.middleware.append(RequestStateBoundary(security, default_audience="shop"))
        with pytest.raises(sealwax.InvalidArgument, match="RequestStateBoundary among"):
            guard().protect(added)


UNPROTECTED = r"call guard\.protect\(server\)"


async def test_why_is_said_to_the_author() -> None:
    """Within a protected request too, where the context is not that of the request."""
    ours = guard()

    async def it(ctx: Any) -> str:
        wrong: list[Any] = [Context(), None]
        for one in wrong:
            for use in (ours.opened, lambda one: ours.state(one, 7)):
                with pytest.raises(sealwax.InvalidArgument, match=UNPROTECTED):
                    use(one)
        with pytest.raises(sealwax.InvalidArgument, match=UNPROTECTED):
            guard().state(ctx, 7)
        # A tool that shows it shows nothing.
        return ours.state(ctx, {"asked": 7})

    async with Client(Shop(ours, it).mcpserver()) as client:
        (content,) = plain(await client.call_tool("it", {}))["content"]
    assert sealwax.inspect(content["text"]).kind == "request-state"


async def test_another_server_in_the_same_process_is_not_protected_by_the_first() -> None:
    """A tool that calls an unprotected server must not lend it its guard."""
    theirs = MCPServer[Any]("unprotected")

    @theirs.tool()
    async def inner(ctx: Context) -> str:
        with pytest.raises(sealwax.InvalidArgument, match=UNPROTECTED):
            ours.state(ctx, {"asked": 7})
        return "refused"

    async def it(ctx: Any) -> str:
        assert sealwax.inspect(ours.state(ctx, {})).kind == "request-state"
        async with Client(theirs) as client:
            (content,) = plain(await client.call_tool("inner", {}))["content"]
        return str(content["text"])

    async with served("mcpserver", it) as of:
        ours = of.guard
        (content,) = plain(await of.client.call_tool("it", {}))["content"]
    assert content["text"] == "refused"


async def test_a_session_of_a_server_that_a_handler_calls_stays_with_the_handler() -> None:
    inner = Shop(guard(), sessions={}).mcpserver()

    async def it(ctx: Any) -> Any:
        async with Client(inner) as client:
            session = await created(client)
            told = carried(await call(client, "count", session))
            return {"is_changed": told["state"] != session["state"]}

    async with Client(low_level(Shop(guard(), it, sessions={}).fastmcp())) as client:
        told = await call(client, "it")
    assert told["structuredContent"] == {"is_changed": True}
    assert SESSION_META_KEY not in told["_meta"]


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
    with wire.listening(server) as url:
        async with Client(url, elicitation_callback=confirmed) as client:
            told = await client.call_tool("delete", {"id": 7})
            assert plain(told)["content"][0]["text"] == "7 True"
            more: Any = {"input_responses": SURE, "allow_input_required": True}
            asked = await client.session.call_tool("delete", {"id": 7}, allow_input_required=True)
            assert isinstance(asked, types.InputRequiredResult)
            assert str(asked.request_state).startswith("sw1.")
            stolen = {"request_state": asked.request_state, **more}
            other = client.session.call_tool("delete", {"id": 8}, **stolen)
            assert await outcome(other) == STATE.refusal


@pytest.mark.parametrize("state", ["plain text", 7, "\ud800"])
async def test_what_a_middleware_answers_is_sealed_too(state: Any) -> None:
    """One that does not call the handler may return a model, or what no handler could."""
    refusals: list[Any] = []

    def answers(ctx: Any) -> Any:
        if ctx.method != "tools/call":
            return None
        if ctx.params.get("requestState") == "plain text":
            return {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
        if state == "plain text":
            asked: types.InputRequests = {"sure": shop.QUESTION}
            return types.InputRequiredResult(input_requests=asked, request_state=state)
        return {"resultType": "input_required", "requestState": state}

    with wire.listening(answering(guard(on_refused=refusals.append), answers)) as url:
        async with Client(url) as client:
            if state == "plain text":
                told = await STATE.present(client, await STATE.good(client))
                assert told["content"][0]["text"] == "done"
            else:
                assert await STATE.present(client, None) == STATE.internal
    codes = [refusal.code for refusal in refusals]
    assert codes == ([] if state == "plain text" else ["invalid_argument"])


async def test_a_tool_that_is_a_plain_function_runs_in_a_thread_and_is_served() -> None:
    of, server = guard(), MCPServer[Any]("shop")

    @server.tool()
    def ask(ctx: Context) -> types.CallToolResult | types.InputRequiredResult:
        if of.opened(ctx) == "asked":
            return shop.result("done")  # type: ignore[no-any-return]
        return types.InputRequiredResult(request_state=of.state(ctx, "asked"))

    of.protect(server)
    with wire.listening(server) as url:
        async with Client(url) as client:
            told = plain(await client.call_tool("ask", {}))
    assert told["content"][0]["text"] == "done"


async def test_requests_at_once_keep_to_themselves() -> None:
    """One connection, many requests: each is opened and sealed for its own arguments."""
    asked: dict[int, Any] = {}
    async with served() as of, anyio.create_task_group() as group:

        async def ask(id: int) -> None:
            first = await of.client.session.call_tool("ask", {"id": id}, allow_input_required=True)
            assert isinstance(first, types.InputRequiredResult)
            asked[id] = await STATE.present(of.client, first.request_state, id=id)

        for number in range(20):
            group.start_soon(ask, number)
    for number in range(20):
        assert asked[number]["structuredContent"]["state"] == {"asked": number}


async def test_a_mounted_server_is_behind_the_guard_of_the_one_it_is_mounted_in() -> None:
    of, child, parent = Shop(guard()), FastMCP[Any]("child"), FastMCP[Any]("parent")

    @child.tool
    async def open(ctx: FastContext, handle: str) -> Any:
        return await of.open(ctx, handle)

    parent.mount(child, namespace="shop")
    of.guard.protect(parent)
    handle = codec().view(anonymous=True).handle_state("order").seal(b'["tea"]')
    with wire.listening(parent.http_app(stateless_http=True)) as url:
        async with Client(url) as client:
            told = plain(await client.call_tool("shop_open", {"handle": handle}))
            assert told["structuredContent"]["items"] == ["tea"]
            refused = plain(await client.call_tool("shop_open", {"handle": handle[:-1]}))
            assert HELD.refused(refused)


async def keep(of: Shop, ctx: Any) -> str:
    """Do otherwise than the guard would."""
    try:
        return (await of.rows.check(ctx, "lost")).ulid
    except HandleRefused as refused:
        why = refused.__cause__
        return f"a new one, for it was {why.code if isinstance(why, sealwax.Refused) else why}"


@pytest.mark.parametrize("system", ["mcpserver", "fastmcp"])
async def test_a_tool_may_do_otherwise(system: str) -> None:
    """What it lets pass keeps the model's text, also where errors are masked."""

    async def it(ctx: Any, keeps: bool) -> str:
        return await keep(of, ctx) if keeps else (await of.rows.check(ctx, "lost")).ulid

    of = Shop(guard(), it)
    server = of.mcpserver() if system == "mcpserver" else of.fastmcp(mask_error_details=True)
    async with Client(low_level(server)) as client:
        told = plain(await client.call_tool("it", {"keeps": True}))
        refused = plain(await client.call_tool("it", {"keeps": False}))
    assert not told.get("isError")
    assert told["content"][0]["text"] == "a new one, for it was malformed"
    assert HANDLE.refused(refused)


async def test_elsewhere_than_in_a_tool_a_refused_handle_is_a_protocol_error() -> None:
    of, server = Shop(guard()), MCPServer[Any]("shop")

    @server.resource("row:///{handle}")
    async def row(handle: str, ctx: Context) -> str:
        return (await of.rows.check(ctx, handle)).ulid

    of.guard.protect(server)
    async with Client(server) as client:
        told = await outcome(client.read_resource("row:///lost"))
    text = HANDLE.refusal["content"][0]["text"]
    assert told["error"] == {"code": types.INVALID_PARAMS, "message": text}

"""Tokens of the SDK's own boundary, which clients have when the guard takes its place."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
import shop
import wire
from carriers import RequestState
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.request_state import RequestStateSecurity

import sealwax
from sealwax.ledger import Memory
from sealwax.mcp import Guard, Refusal, Transition, opener_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.anyio
KEYS = str(sealwax.Key.generate().to_text())
BEFORE = RequestStateSecurity(keys=["a key of the server that there was before"])
CARRIER = RequestState()


def later() -> datetime:
    return datetime.now(timezone.utc) + timedelta(hours=1)


def transition(**more: Any) -> Transition:
    return Transition(**{"open": opener_of(BEFORE, server_name="shop"), "until": later(), **more})


def asking(make: Any, **options: Any) -> Any:
    """Return a server of one tool, which asks, and then tells what it asked."""
    server = make("shop", **options)

    async def ask(ctx: Any, id: int) -> types.InputRequiredResult | types.CallToolResult:
        if ctx.request_state is None:
            asked: types.InputRequests = {"sure": shop.QUESTION}
            return types.InputRequiredResult(input_requests=asked, request_state="plain text")
        return types.CallToolResult(content=[types.TextContent(text=ctx.request_state)])

    ask.__annotations__["ctx"] = Context if make is MCPServer else FastContext
    server.tool()(ask)
    return server


@asynccontextmanager
async def connected(server: Any) -> AsyncIterator[Client]:
    app = server.http_app if isinstance(server, FastMCP) else server.streamable_http_app
    with wire.listening(app(stateless_http=True)) as url:
        async with Client(url) as client:
            yield client


async def held(security: RequestStateSecurity = BEFORE) -> str:
    """Return what a client has from before."""
    async with connected(asking(MCPServer, request_state_security=security)) as client:
        return await CARRIER.good(client)


def guarded(make: Any, refusals: list[Refusal], given: Transition, **options: Any) -> Any:
    server = asking(make)
    Guard(
        codec=shop.codec(KEYS),
        principal="anonymous",
        on_refused=refusals.append,
        transition=given,
        **options,
    ).protect(server)
    return server


@pytest.mark.parametrize("make", [MCPServer, FastMCP])
async def test_what_the_sdk_sealed_is_accepted_until_the_date_and_ours_is_made(make: Any) -> None:
    before, refusals = await held(), list[Refusal]()
    assert before.startswith("v1.")
    async with connected(guarded(make, refusals, transition())) as client:
        told = await CARRIER.present(client, before)
        assert told["content"][0]["text"] == "plain text"
        ours = await CARRIER.good(client)
        assert ours.startswith("sw1.")
        assert (await CARRIER.present(client, ours))["content"][0]["text"] == "plain text"
        assert refusals == []
        other = RequestStateSecurity(keys=["another key, and as long as it has to be"])
        late = RequestStateSecurity(keys=["a key of the server that there was before"], ttl=1e-9)
        foreign = [before[:-1], "none", await held(other), await held(late)]
        for token in foreign:
            assert await CARRIER.present(client, token) == CARRIER.refusal
        # Bound to its request.
        assert await CARRIER.present(client, before, id=8) == CARRIER.refusal
        assert [one.code for one in refusals] == ["malformed"] * 5
    over = guarded(make, refusals, transition(until=time.time()))
    async with connected(over) as client:
        assert await CARRIER.present(client, before) == CARRIER.refusal


async def test_what_it_fails_at_is_an_error_of_the_server() -> None:
    def fails(_token: str, _ctx: Any) -> str:
        raise OSError

    for opener in (fails, lambda _token, _ctx: 7):
        refusals: list[Refusal] = []
        async with connected(guarded(MCPServer, refusals, transition(open=opener))) as client:
            assert await CARRIER.present(client, "of before") == CARRIER.internal
        assert [one.code for one in refusals] == ["accept_unavailable"]


async def test_with_a_ledger_it_counts_once() -> None:
    before, refusals = await held(), list[Refusal]()
    given = guarded(
        MCPServer,
        refusals,
        transition(),
        ledger=Memory(),
        ledger_options={"accept_issued_since": int(time.time()) - 60},
    )
    async with connected(given) as client:
        told = await CARRIER.present(client, before)
        assert told["content"][0]["text"] == "plain text"
        assert await CARRIER.present(client, before) == CARRIER.refusal
    assert [one.code for one in refusals] == ["used"]


@pytest.mark.parametrize("until", [None, -1, float("nan"), "2027"])
def test_until_is_a_time(until: Any) -> None:
    with pytest.raises(sealwax.InvalidArgument, match="until"):
        guarded(MCPServer, [], transition(until=until))

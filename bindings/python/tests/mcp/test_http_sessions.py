"""``Mcp-Session-Id`` without a store: the official client on every SDK, and what may be wrapped."""

from __future__ import annotations

from typing import Any

import pytest
import wire
from carriers import call, carried, created, plain
from ledgers import memory
from mcp.server import MCPServer
from shop import ALL, Shop, guard, served, view
from starlette.applications import Starlette

import sealwax

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("json_response", [True, False])
@ALL
async def test_the_official_client_has_a_session(system: str, json_response: bool) -> None:
    seen = list[Any]()

    async def answered(response: Any) -> None:
        seen.append((response.request, response.status_code))

    how: Any = {"ledger": memory(), "app": {"json_response": json_response}}
    async with served(system, wrapped=True, shop={"sessions": {}}, **how) as of:
        async with wire.over_http(
            of.url, "alice", mode="legacy", event_hooks={"response": [answered]}
        ) as client:
            told = plain(await client.call_tool("agreed", {}))["structuredContent"]["agreed"]
            assert told["protocol_version"] == wire.LEGACY
            assert told["client_info"]["name"] == "mcp"
            assert told["server_capabilities"]["experimental"]["sessions"] == {}
            assert "tools" in told["server_capabilities"]
            assert "tools" not in told["client_capabilities"]
            # A data-layer session goes on beside it.
            session = await created(client)
            assert carried(await call(client, "count", session))["state"] != session["state"]
        (token,) = {
            request.headers.get("mcp-session-id")
            for request, _ in seen
            if b'"initialize"' not in request.content
        }
        assert token is not None
        # What a replica in another language reads.
        assert set(view().session().open(token).json()) == {
            "protocolVersion",
            "clientCapabilities",
            "clientInfo",
            "serverCapabilities",
        }
        statuses = {request.method: status for request, status in seen}
        assert statuses["DELETE"] == 204
        # It is the SDK's. FastMCP has no route for it where it is stateless.
        assert statuses["GET"] == (405 if system == "fastmcp" else 200)
        gone = await wire.post(of.url, "ping", revision=wire.LEGACY, session=token)
        assert (gone.status_code, of.codes) == (404, ["ended"])


def test_what_cannot_be_wrapped_is_a_mistake() -> None:
    app = MCPServer[Any]("twice").streamable_http_app(stateless_http=True)
    wrong: Any = "Serve"
    with pytest.raises(sealwax.InvalidArgument, match="on_lost: expected 'refuse' or 'serve'"):
        guard().asgi(app, on_lost=wrong)
    with pytest.raises(sealwax.InvalidArgument, match="idle: expected a guard with a ledger"):
        guard().asgi(app, idle=60)
    with pytest.raises(sealwax.InvalidArgument):
        guard().asgi(app, ttl=0)
    guard().asgi(app)
    for one in (app, Starlette()):
        with pytest.raises(sealwax.InvalidArgument, match="one endpoint of MCP, found 0"):
            guard().asgi(one)


async def test_a_version_that_is_missing_is_what_was_negotiated() -> None:
    of = Shop(guard())
    app = of.guard.asgi(of.mcpserver().streamable_http_app(stateless_http=True))
    with wire.listening(app) as url:
        call = {"name": "agreed", "arguments": {}}
        told = await wire.in_session(url, "tools/call", call, revision=None)
    assert told["result"]["structuredContent"]["version"] == wire.LEGACY

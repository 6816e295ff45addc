"""``Mcp-Session-Id`` without a store: the official client on every SDK, and what may be wrapped."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
import tally
import wire
from carriers import altered, plain, view
from http_sessions import KEYS, REVISION, SYSTEMS, Recording, Served, served
from ledgers import memory
from mcp.server import MCPServer
from pydantic import TypeAdapter
from starlette.applications import Starlette

import sealwax
from sealwax.mcp import SESSION_META_KEY, Guard

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("json_response", [True, False])
@SYSTEMS
async def test_the_official_client_has_a_session(system: str, json_response: bool) -> None:
    async with served(system, guard={"ledger": memory()}, json_response=json_response) as of:
        recording = Recording()
        info = types.Implementation(name="official", version="7")
        async with wire.over_http(
            of.url, "alice", mode="legacy", transport=recording, client_info=info
        ) as client:
            told = plain(await client.call_tool("agreed", {}))["structuredContent"]["agreed"]
            assert told["protocol_version"] == REVISION
            assert told["client_info"] == {"name": "official", "version": "7"}
            assert told["server_capabilities"]["experimental"]["sessions"] == {}
            assert "tools" in told["server_capabilities"]
            assert "tools" not in told["client_capabilities"]
            # A data-layer session goes on beside it.
            request: Any = types.Request[Any, Any](method="sessions/create", params=None)
            anything: Any = TypeAdapter(dict[str, Any])
            made = await client.session.send_request(request, anything)
            call = await client.call_tool("count", {}, meta={SESSION_META_KEY: made["session"]})  # type: ignore[arg-type]
            assert plain(call)["structuredContent"]["value"] == {"count": 1}
        (token,) = {
            request.headers.get("mcp-session-id")
            for request, _ in recording.seen
            if b'"initialize"' not in request.content
        }
        assert token is not None
        # What a replica in another language reads.
        sealed = view(tally.codec(KEYS), wire.principal("alice")).session().open(token)
        assert set(sealed.json()) == {
            "protocolVersion",
            "clientCapabilities",
            "clientInfo",
            "serverCapabilities",
        }
        statuses = {request.method: response.status_code for request, response in recording.seen}
        assert statuses["DELETE"] == 204
        # It is the SDK's. FastMCP has no route for it where it is stateless.
        assert statuses["GET"] == (405 if system == "fastmcp" else 200)
        assert (await of.send(session=token)).status_code == 404
        assert of.codes == ["ended"]


async def test_a_server_that_keeps_sessions_itself_is_a_mistake() -> None:
    async with served(stateless=False) as of:
        assert (await of.initialize()).status_code == 500
        assert of.codes == ["invalid_argument"]
        assert "stateless" in of.refusals[0].message


def test_what_cannot_be_wrapped_is_a_mistake() -> None:
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    app = MCPServer[Any]("twice").streamable_http_app(stateless_http=True)
    wrong: Any = "Serve"
    with pytest.raises(sealwax.InvalidArgument, match="on_lost: expected 'refuse' or 'serve'"):
        guard.asgi(app, on_lost=wrong)
    with pytest.raises(sealwax.InvalidArgument):
        guard.asgi(app, ttl=0)
    guard.asgi(app)
    for one in (app, Starlette()):
        with pytest.raises(sealwax.InvalidArgument, match="one endpoint of MCP, found 0"):
            guard.asgi(one)


async def test_an_endpoint_of_ones_own() -> None:
    """Wrapped as it is; its authentication is outside of the wrapper."""
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    of = tally.Tally(guard, required=None)
    app = tally.mcpserver(of).streamable_http_app(stateless_http=True)
    wrapped = guard.asgi(lambda scope, receive, send: app(scope, receive, send))
    with wire.listening(wrapped) as url:
        served = Served(url)
        session = await served.session()
        # The header that says which revision may be left out, and is then known all the same.
        told = wire.told((await served.send(session=session, version=None)).text)
        assert told["result"]["structuredContent"]["version"] == REVISION
        assert (await served.send(session=altered(session))).status_code == 404

"""``Mcp-Session-Id`` without a store: every SDK, the official client, and what it never sends."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
import tally
import wire
from carriers import altered, plain, view
from http_sessions import (
    KEYS,
    REVISION,
    SYSTEMS,
    Recording,
    Served,
    served,
)
from ledgers import memory
from mcp.server import MCPServer
from pydantic import TypeAdapter
from starlette.applications import Starlette

import sealwax
from sealwax.mcp import SESSION_META_KEY, Guard

if TYPE_CHECKING:
    import httpx2

    from sealwax.mcp import GuardEvent

pytestmark = pytest.mark.anyio


def test_what_is_done_with_a_lost_session_is_named() -> None:
    guard = Guard(codec=sealwax.Codec(keys=KEYS, audience="a"), principal="anonymous")
    server = MCPServer("lost")
    guard.protect(server)
    wrong: Any = "Serve"
    with pytest.raises(sealwax.InvalidArgument, match="on_lost: expected 'refuse' or 'serve'"):
        guard.asgi(server.streamable_http_app(stateless_http=True), on_lost=wrong)


@pytest.mark.parametrize("required", [True, False])
@SYSTEMS
async def test_a_body_that_is_no_json_is_a_parse_error(system: str, required: bool) -> None:
    async with served(system, required=required) as of:
        for body in ("no json", "", "{"):
            told = await of.send(body=body)
            assert told.status_code == 400
            error = {"code": -32700, "message": "Parse error"}
            assert told.json() == {"jsonrpc": "2.0", "id": None, "error": error}, body
        assert of.codes == ["malformed"] * 3
        # This is JSON, and no message.
        assert (await of.send(body="null")).json()["error"]["code"] != -32700


@SYSTEMS
async def test_a_client_that_declares_too_much_is_served_where_no_session_is_required(
    system: str,
) -> None:
    declared: Any = {"experimental": {"example.com/long": {"it": "x" * 3_000}}}
    async with served(system, required=False) as of:
        told = await of.initialize(**declared)
        assert told.status_code == 200
        assert "mcp-session-id" not in told.headers
        assert wire.told(told.text)["result"]["protocolVersion"] == REVISION
        assert of.codes == ["too_large"]
        assert wire.told((await of.send("tools/list")).text)["result"]["tools"]
    async with served(system) as of:
        assert (await of.initialize(**declared)).status_code == 500
        assert of.codes == ["too_large"]


@pytest.mark.parametrize("json_response", [True, False])
@SYSTEMS
async def test_the_official_client_has_a_session(system: str, json_response: bool) -> None:
    heard: list[GuardEvent] = []
    guard = {"ledger": memory(), "on_event": heard.append}
    async with served(system, guard=guard, app={"json_response": json_response}) as of:
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
        sessions = {
            request.headers.get("mcp-session-id")
            for request, _ in recording.seen
            if b'"initialize"' not in request.content
        }
        assert len(sessions) == 1
        token = sessions.pop()
        assert token is not None
        # What a replica in another language reads.
        sealed = view(tally.codec(KEYS), wire.principal("alice")).session().open(token)
        agreed = sealed.json()
        assert set(agreed) == {
            "protocolVersion",
            "clientCapabilities",
            "clientInfo",
            "serverCapabilities",
        }
        assert agreed["clientInfo"] == {"name": "official", "version": "7"}
        statuses = {request.method: response.status_code for request, response in recording.seen}
        assert statuses["DELETE"] == 204
        # It is the SDK's. FastMCP has no route for it where it is stateless.
        assert statuses["GET"] == (405 if system == "fastmcp" else 200)
        (end,) = (one for one in heard if one.event == "ended")
        assert (end.kind, end.id, end.principal) == (
            "session",
            sealed.token_id,
            wire.principal("alice"),
        )
        assert (await of.send(session=token)).status_code == 404
        assert of.codes == ["ended"]


@SYSTEMS
async def test_requests_that_no_client_should_send(system: str) -> None:
    async with served(system, guard={"ledger": memory()}) as of:
        good = await of.session()
        absent = [
            await of.send(),
            await of.send("notifications/initialized", identity=None),
            await of.send(http="DELETE"),
            await of.send(http="DELETE", session=good, version="2025-06-18"),
            await of.send(body="not JSON"),
            await of.send(body='[{"jsonrpc":"2.0","id":1,"method":"initialize"}]'),
            await of.send(body='{"method":"initialize"}'.encode("utf-16").decode("latin-1")),
            await of.send(session=good, version="2025-06-18"),
        ]
        if system != "fastmcp":
            # FastMCP has no route for GET where it is stateless.
            absent.append(await of.send(http="GET"))
        assert [response.status_code for response in absent] == [400] * len(absent)
        assert of.of.ran == []
        # The header that says which revision may be left out, and is then known all the same.
        assert (await of.send(session=good, version=None)).status_code == 200
        assert of.of.versions == [REVISION]
        assert (await of.send("initialize", good, params={})).status_code == 200
        async with wire.http() as client:
            for http in ("POST", "GET", "DELETE"):
                nobody = await client.request(http, of.url, headers={"Mcp-Session-Id": good})
                # FastMCP has no route for GET where it is stateless.
                assert nobody.status_code in ({401, 405} if http == "GET" else {401})
            twice = [("Mcp-Session-Id", good), ("Mcp-Session-Id", good)]
            auth = ("Authorization", f"Bearer {wire.bearer('alice')}")
            # Two headers are no session.
            response = await client.post(of.url, headers=[*twice, auth], content="{}")
            assert response.status_code == 404


@SYSTEMS
async def test_the_header_of_a_data_layer_session_is_its_id(system: str) -> None:
    alice = view(tally.codec(KEYS), wire.principal("alice")).sessions()
    mine, other = alice.create(b'{"count":1}'), alice.create(b'{"count":2}')
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        SESSION_META_KEY: mine,
    }
    call = {"name": "peek", "arguments": {}, "_meta": meta}

    async def send(url: str, session: str | None, written: Any = str) -> httpx2.Response:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {wire.bearer('alice')}",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "peek",
            **({} if session is None else {"Mcp-Session-Id": session}),
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        async with wire.http() as client:
            return await client.post(url, headers=headers, content=written(json.dumps(body)))

    async with served(system) as of:
        for session in (mine["sessionId"], None):
            told = wire.told((await send(of.url, session)).text)
            assert told["result"]["structuredContent"]["was"] == {"count": 1}
        assert (await send(of.url, other["sessionId"])).status_code == 400
        assert of.of.ran == ["peek", "peek"]
        # Texts that the SDK reads in this revision and not in those before.
        for encoding in ("utf-16", "utf-8-sig"):
            body = functools.partial(str.encode, encoding=encoding)
            assert (await send(of.url, mine["sessionId"], body)).status_code == 400
        assert of.of.ran == ["peek", "peek"]


async def test_a_body_over_the_limit_is_not_read() -> None:
    async with served(max_request_body_size=1_000) as of:
        session = await of.session()
        assert (await of.send(session=session, body="x" * 2_000)).status_code == 413


async def test_a_server_that_keeps_sessions_itself_is_a_mistake() -> None:
    async with served(app={"stateless": False}) as of:
        assert (await of.initialize()).status_code == 500
        assert of.codes == ["invalid_argument"]
        assert "stateless" in of.refusals[0].message


def test_an_app_without_an_endpoint_is_a_mistake() -> None:
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    with pytest.raises(sealwax.InvalidArgument, match="one endpoint of MCP, found 0"):
        guard.asgi(Starlette())
    app = MCPServer[Any]("twice").streamable_http_app(stateless_http=True)
    guard.asgi(app)
    with pytest.raises(sealwax.InvalidArgument, match="found 0"):
        guard.asgi(app)
    with pytest.raises(sealwax.InvalidArgument):
        guard.asgi(app, ttl=0)


async def test_an_endpoint_of_ones_own() -> None:
    """Wrapped as it is; its authentication is outside of the wrapper."""
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    of = tally.Tally(guard, required=None)
    app = tally.mcpserver(of).streamable_http_app(stateless_http=True)
    wrapped = guard.asgi(lambda scope, receive, send: app(scope, receive, send))
    with wire.listening(wrapped) as url:
        session = await Served(url, of, []).session()
        assert (await Served(url, of, []).send(session=session)).status_code == 200
        assert (await Served(url, of, []).send(session=altered(session))).status_code == 404

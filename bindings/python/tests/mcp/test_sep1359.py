"""SEP-1359: the session in the messages, over HTTP and stdio, by official clients and a shim."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import tally
import wire
from carriers import plain, view
from http_sessions import (
    KEYS,
    REVISION,
    SYSTEMS,
    Recording,
    Served,
    served,
)
from ledgers import memory
from lone import Lone
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from processes import SEP, refused

from sealwax.mcp import Guard, principal_from_access_token

if TYPE_CHECKING:
    from sealwax.mcp import GuardEvent

pytestmark = pytest.mark.anyio


class Shim(Recording):
    """Speaks SEP-1359 for the official client, whose messages have no place for a session."""

    def __init__(self) -> None:
        super().__init__()
        self.session: str | None = None
        self.said: list[dict[str, Any]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.session is not None and request.method == "POST":
            content = json.dumps({**json.loads(request.content), "sessionId": self.session})
            headers = {k: v for k, v in request.headers.items() if k != "content-length"}
            request = httpx2.Request("POST", request.url, headers=headers, content=content)
        response = await super().handle_async_request(request)
        text = (await response.aread()).decode()
        if request.method == "POST" and text:
            self.said.append(wire.told(text))
            self.session = self.said[-1].get("result", {}).get("sessionId", self.session)
        return response


@pytest.mark.parametrize("json_response", [True, False])
@SYSTEMS
async def test_the_official_client_with_a_shim_over_http(system: str, json_response: bool) -> None:
    options: Any = {"app": {"json_response": json_response}}
    async with served(system, ttl=60, **options, **SEP) as of:
        shim = Shim()
        async with wire.over_http(of.url, "alice", mode="legacy", transport=shim) as client:
            first = shim.said[0]["result"]
            assert first["sessionTimeout"] == 60
            assert shim.seen[0][1].headers["mcp-session-id"] == first["sessionId"]
            told = plain(await client.call_tool("agreed", {}))["structuredContent"]["agreed"]
            assert told["protocol_version"] == REVISION
            await client.session.send_ping()
            results = [message["result"] for message in shim.said if "result" in message]
            assert len(results) >= 3
            assert {result["sessionId"] for result in results} == {first["sessionId"]}


async def test_what_the_server_says_by_itself_has_it_too() -> None:
    guard = Guard(codec=tally.codec(KEYS), principal=principal_from_access_token)

    class Telling:
        @staticmethod
        def mcpserver(_of: Any, **options: Any) -> Any:
            server: MCPServer[Any] = MCPServer("telling", **options)
            guard.protect(server)

            async def work(ctx: Any) -> str:
                await ctx.report_progress(1, 2)
                return "done"

            work.__annotations__["ctx"] = Context
            server.tool()(work)
            return server

    app = guard.asgi(wire.app("mcpserver", None, where=Telling), **SEP)
    with wire.listening(app) as url:
        of = Served(url, None, [])  # type: ignore[arg-type]
        session = await of.session()
        call = {"name": "work", "arguments": {}, "_meta": {"progressToken": 7}}
        for members in ({}, {"sessionId": session}):
            response = await of.send(session=session, params=call, **members)
            lines = response.text.splitlines()
            said = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
            assert [one.get("method") for one in said] == ["notifications/progress", None]
            assert said[0].get("sessionId") == members.get("sessionId")
            assert said[1]["result"].get("sessionId") == members.get("sessionId")
            assert "sessionId" not in said[1]


#: Line ends of Unicode and `str.splitlines` that are none in an event stream.
LINES = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"


@pytest.mark.parametrize("json_response", [True, False])
@SYSTEMS
async def test_the_end_of_a_line_in_a_text_is_none_in_an_event(
    system: str, json_response: bool
) -> None:
    guard = Guard(codec=tally.codec(KEYS), principal=principal_from_access_token)

    async def it(_ctx: Any) -> dict[str, str]:
        return {"text": LINES}

    app = wire.app(system, None, where=Lone(guard, it), json_response=json_response)
    with wire.listening(guard.asgi(app, **SEP)) as url:
        of = Served(url, None, [])  # type: ignore[arg-type]
        session = await of.session()
        for members in ({}, {"sessionId": session}):
            response = await of.send(session=session, params={"name": "it"}, **members)
            lines = re.split(rb"\r\n|\r|\n", response.content)
            (said,) = [one.removeprefix(b"data: ") for one in lines if b"jsonrpc" in one]
            result = json.loads(said)["result"]
            assert result["structuredContent"] == {"text": LINES}
            assert result.get("sessionId") == members.get("sessionId")
            streams = response.headers["content-type"].startswith("text/event-stream")
            assert streams is not json_response


async def test_a_session_ends_when_its_principal_changes() -> None:
    heard: list[GuardEvent] = []
    guard = {"ledger": memory(), "on_event": heard.append}
    async with served(guard=guard, ttl=60, **SEP) as of:
        session = await of.session()
        # A refreshed credential is the same principal's: every request here has its own.
        assert "error" not in wire.told((await of.send("ping", sessionId=session)).text)
        stolen = await of.send("ping", user="mallory", sessionId=session)
        assert stolen.json() == refused(session)
        alice = view(tally.codec(KEYS), wire.principal("alice")).session().open(session)
        (end,) = (one for one in heard if one.event == "ended")
        assert (end.kind, end.id, end.principal) == (
            "session",
            alice.token_id,
            wire.principal("mallory"),
        )
        assert (await of.send("ping", sessionId=session)).json() == refused(session)
        assert of.codes == ["principal_mismatch", "ended"]

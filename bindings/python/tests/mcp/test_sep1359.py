"""SEP-1359: the session in the messages, over HTTP and stdio, by official clients and a shim."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
import tally
import wire
from carriers import plain, view
from lone import Lone
from mcp import Client, StdioServerParameters
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from remembering import Remembering
from test_http_sessions import (
    CODES,
    KEYS,
    RETIRED,
    REVISION,
    SYSTEMS,
    Ended,
    Recording,
    Served,
    altered,
    served,
)

import sealwax
from sealwax.mcp import Guard, principal_from_access_token

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent
SEP: Any = {"sep1359": True}


def refused(session_id: Any, identity: Any = 1) -> dict[str, Any]:
    echoed = session_id if isinstance(session_id, str) else None
    return {"jsonrpc": "2.0", "id": identity, **sealwax.answer("sep-1359", session_id=echoed)}


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
    accept = Ended()
    options: Any = {"guard": {"accept": accept}, "app": {"json_response": json_response}}
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


@SYSTEMS
async def test_only_a_peer_that_uses_it_is_sent_it(system: str) -> None:
    async with served(system, **SEP) as of:
        session = await of.session()
        by_header = wire.told((await of.send("ping", session)).text)
        by_body = wire.told((await of.send("ping", sessionId=session)).text)
        both = wire.told((await of.send("ping", session, sessionId=session)).text)
        assert by_header["result"] == {}
        assert by_body["result"] == both["result"] == {"sessionId": session}
        # A client's response has it in its result, if it says so at all.
        answer = json.dumps({"jsonrpc": "2.0", "id": 9, "result": {"sessionId": session}})
        assert (await of.send(body=answer)).status_code == 202
        assert (await of.send(body=answer.replace(session, altered(session)))).status_code == 404


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


#: What Unicode and `str.splitlines` take for the end of a line, and event streams do not.
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


@SYSTEMS
async def test_what_is_refused_looks_alike(system: str) -> None:
    accept = Ended()
    async with served(system, guard={"accept": accept}, **SEP) as of:
        alice = view(tally.codec(KEYS), wire.principal("alice"))
        retired = view(tally.codec(RETIRED), wire.principal("alice"))
        good, ended = await of.session(), await of.session()
        old = alice.session().seal(alice.session().open(good).payload, ttl=1)
        await anyio.sleep(1.1)
        by_header = await of.session()
        done = await of.send("session/terminate", by_header)
        assert done.json()["result"] == {}
        assert (await of.send("session/terminate", by_header)).status_code == 404
        accept.ends.clear()
        done = await of.send("session/terminate", ended, sessionId=ended)
        assert done.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert [end.id for end in accept.ends] == [alice.session().open(ended).token_id]
        bad: dict[str, Any] = {
            "another user's": await of.session("mallory"),
            "of another kind": alice.cursor("tools/list").seal(b"{}"),
            "altered": altered(good),
            "of a retired key": retired.session().seal(b"{}"),
            "too large": good + "A" * 9_000,
            "no token": "session-7",
            "empty": "",
            "expired": old,
            "ended": ended,
            "of another payload": alice.session().seal(b"[]"),
            "a number": 7,
        }
        for name, session in bad.items():
            for method in ("tools/call", "ping", "session/terminate"):
                of.refusals.clear()
                response = await of.send(method, identity="mine", sessionId=session)
                assert response.status_code == 200
                assert response.json() == refused(session, "mine"), name
                expected = {CODES.get(name, "malformed")}
                if name == "another user's":
                    # It ended when it was presented by another for the first time.
                    expected.add("not_accepted")
                assert {refusal.code for refusal in of.refusals} <= expected, name
            note = await of.send("notifications/initialized", identity=None, sessionId=session)
            assert note.status_code == 404
        assert of.of.ran == []
        told = wire.told((await of.send(sessionId=good)).text)
        assert told["result"]["sessionId"] == good


@SYSTEMS
async def test_a_session_ends_when_its_principal_changes(system: str) -> None:
    accept = Ended()
    async with served(system, guard={"accept": accept}, ttl=60, **SEP) as of:
        session = await of.session()
        # A refreshed credential is the same principal's: every request here has its own.
        assert "error" not in wire.told((await of.send("ping", sessionId=session)).text)
        stolen = await of.send("ping", user="mallory", sessionId=session)
        assert stolen.json() == refused(session)
        alice = view(tally.codec(KEYS), wire.principal("alice")).session().open(session)
        (end,) = accept.ends
        assert (end.kind, end.id, end.principal) == (
            "session",
            alice.token_id,
            wire.principal("mallory"),
        )
        assert end.expires_at is not None
        assert alice.expires_at is not None
        assert end.expires_at >= alice.expires_at + 300
        assert (await of.send("ping", sessionId=session)).json() == refused(session)
        assert of.codes == ["principal_mismatch", "not_accepted"]


async def test_without_it_a_session_does_not_end_so() -> None:
    accept = Ended()
    async with served(guard={"accept": accept}) as of:
        session = await of.session()
        assert (await of.send("ping", session, user="mallory")).status_code == 404
        assert (await of.send("ping", session)).status_code == 200
        assert accept.ends == []


@SYSTEMS
async def test_header_and_message(system: str) -> None:
    async with served(system, guard={"accept": Remembering()}, **SEP) as of:
        one, other = await of.session(), await of.session()
        assert (await of.send("ping", one, sessionId=other)).status_code == 400
        assert (await of.send("ping")).status_code == 400
        # FastMCP has no route for GET where it is stateless.
        expected = 405 if system == "fastmcp" else 400
        assert (await of.send(http="GET")).status_code == expected
        expected = 405 if system == "fastmcp" else 200
        assert (await of.send(http="GET", session=one)).status_code == expected
        assert (await of.send(http="DELETE", session=one)).status_code == 204


@SYSTEMS
async def test_what_ends_a_session_is_a_request_that_something_remembers(system: str) -> None:
    async with served(system, **SEP) as of:
        session = await of.session()
        for members in ({"sessionId": session}, {}):
            header = None if members else session
            told = wire.told((await of.send("session/terminate", header, **members)).text)
            assert told["error"]["code"] == -32601
        assert "error" not in wire.told((await of.send("ping", sessionId=session)).text)
        assert of.codes == []
    accept = Ended()
    async with served(system, guard={"accept": accept}, **SEP) as of:
        session = await of.session()
        for members in ({"sessionId": session}, {}):
            header = None if members else session
            note = await of.send("session/terminate", header, identity=None, **members)
            assert note.status_code == 400
        assert "error" not in wire.told((await of.send("ping", sessionId=session)).text)
        assert accept.ends == []
        assert of.codes == ["malformed", "malformed"]
        assert "session/terminate as a request" in of.refusals[0].message


@SYSTEMS
async def test_a_session_has_room_in_a_header(system: str) -> None:
    """Whoever sealed it: a replica that has no proxy before it might."""
    large = {"codec": tally.codec(KEYS, payload_limit=65_536)}
    async with served(system, guard=large, **SEP) as of:
        alice = view(tally.codec(KEYS, payload_limit=65_536), wire.principal("alice")).session()
        agreed = alice.open(await of.session()).json()
        agreed["clientInfo"]["name"] = "x" * 4_096
        session = alice.seal_json(agreed)
        assert len(session) > 4_096
        assert (await of.send("ping", session)).status_code == 404
        assert (await of.send("ping", sessionId=session)).json() == refused(session)
        assert of.codes == ["too_large", "too_large"]


async def test_too_much_to_negotiate() -> None:
    async with served(**SEP) as of:
        response = await of.initialize(experimental={"x": {"pad": "x" * 3_500}})
        assert response.status_code == 500
        assert of.codes == ["too_large"]


def command(system: str, transcript: Path, user: str = "alice") -> StdioServerParameters:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS, "SHOP_USER": user, "SEP1359": "60"}
    server = [sys.executable, str(HERE / "tally.py"), system]
    shim = [str(HERE / "sep1359_shim.py"), str(transcript), *server]
    return StdioServerParameters(command=sys.executable, args=shim, env=environment)


@SYSTEMS
async def test_on_stdio_a_session_outlives_a_restart(system: str, tmp_path: Path) -> None:
    transcript = tmp_path / "said"
    async with Client(command(system, transcript), mode="legacy") as client:
        assert len((await client.list_tools()).tools) == len(tally.TOOLS)
        for _ in range(2):
            await client.session.call_tool("restart", {})
            assert plain(await client.call_tool("peek", {}))["structuredContent"] == {
                "session": None
            }
        await client.session.send_ping()
    said = [json.loads(line) for line in transcript.read_text().splitlines()]
    results = [one["result"] for one in said if "result" in one]
    assert results[0]["sessionTimeout"] == 60
    # One initialize was answered, and each result has the one session.
    assert [("protocolVersion" in result) for result in results].count(True) == 1
    assert {result["sessionId"] for result in results} == {results[0]["sessionId"]}
    assert not [one for one in said if "error" in one]


class OnStdio:
    """A server's process, line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, method: str, identity: Any = 1, **members: Any) -> dict[str, Any]:
        self.tell(method, id=identity, **members)
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert answer["id"] == identity
        return answer

    def tell(self, method: str, **members: Any) -> None:
        assert self._process.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, "params": {}, **members}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def initialize(self, **capabilities: Any) -> dict[str, Any]:
        info = {"name": "raw", "version": "0"}
        params = {"protocolVersion": REVISION, "capabilities": capabilities, "clientInfo": info}
        return self.ask("initialize", params=params)


@contextmanager
def on_stdio(
    system: str,
    user: str = "alice",
    ttl: int = 60,
    *,
    remembers: bool = True,
    more: dict[str, str] | None = None,
) -> Iterator[OnStdio]:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS, "SHOP_USER": user, "SEP1359": str(ttl)}
    environment.update(more or {})
    if not remembers:
        environment["FORGETFUL"] = "1"
    args = [sys.executable, str(HERE / "tally.py"), system]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        args, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield OnStdio(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(10) == 0


@SYSTEMS
def test_on_stdio_what_is_refused_looks_alike(system: str) -> None:
    alice = view(tally.codec(KEYS), wire.principal("alice"))
    retired = view(tally.codec(RETIRED), wire.principal("alice"))
    with on_stdio(system, "mallory", ttl=2) as mallory:
        first = mallory.initialize()["result"]
        assert first["sessionTimeout"] == 2
        theirs = view(tally.codec(KEYS), wire.principal("mallory")).session()
        payload = theirs.open(first["sessionId"]).payload
    time.sleep(2.1)
    with on_stdio(system) as server:
        # No initialize: the process is another than that which the session began with.
        good, ended, stolen = (alice.session().seal(payload) for _ in range(3))
        assert server.ask("ping", sessionId=good)["result"] == {"sessionId": good}
        assert server.ask("session/terminate", sessionId=ended)["result"] == {}
        bad: dict[str, Any] = {
            "another user's": theirs.seal(payload),
            "altered": altered(good),
            "of a retired key": retired.session().seal(payload),
            "too large": good + "A" * 9_000,
            "empty": "",
            "a number": 7,
            "ended": ended,
            "expired": first["sessionId"],
        }
        for name, session in bad.items():
            for identity in ("mine", 7):
                answer = server.ask("ping", identity, sessionId=session)
                assert answer == refused(session, identity), name
            server.tell("notifications/initialized", sessionId=session)
        assert server.ask("ping", sessionId=good)["result"] == {"sessionId": good}
        # What is no message is the SDK's affair, and a cancelled request's answer nobody's.
        server.tell("ping", id=[7], sessionId=good)
        server.tell("notifications/cancelled", params={"requestId": 7}, sessionId=good)
        # A message of no session is served as ever, and answered as ever.
        assert server.ask("ping")["result"] == {}
    with on_stdio(system, "mallory") as thief:
        assert thief.ask("ping", sessionId=stolen) == refused(stolen)
        # Its owner's process is another, and so is its memory: there it goes on.


def test_on_stdio_a_printing_tool_does_not_reach_the_wire() -> None:
    """What the SDK does for its own streams is done for these."""
    program = """
import anyio, os, sealwax
from mcp.server import MCPServer
from sealwax.mcp import Guard
guard = Guard(codec=sealwax.Codec(keys=os.environ["SEALWAX_KEYS"], audience="https://a.example"),
              principal="anonymous")
server = MCPServer("printing")
guard.protect(server)
@server.tool()
def shout() -> str:
    print("not a message", flush=True)
    return "done"
anyio.run(guard.run_stdio, server)
"""
    environment = {**os.environ, "SEALWAX_KEYS": KEYS}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
    ) as process:
        server = OnStdio(process)
        first = server.initialize()["result"]
        server.tell("notifications/initialized")
        call = {"name": "shout", "arguments": {}}
        told = server.ask("tools/call", params=call, sessionId=first["sessionId"])
        assert told["result"]["content"][0]["text"] == "done"
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        assert "not a message" in process.stderr.read()


def agreed(user: str = "alice", **members: Any) -> str:
    """Seal what a client negotiated with another process."""
    info = {"name": "raw", "version": "0"}
    payload = {
        "protocolVersion": REVISION,
        "clientCapabilities": {},
        "clientInfo": info,
        "serverCapabilities": {},
        **members,
    }
    return view(tally.codec(KEYS), wire.principal(user)).session().seal_json(payload)


@pytest.mark.parametrize(
    "between",
    [
        [],
        [{"requestId": True}],
        [{"requestId": 1.5}, {"requestId": [1]}, {"requestId": None}, {}, [1]],
    ],
)
@SYSTEMS
def test_on_stdio_what_leaves_is_of_the_session_that_it_was_made_for(
    system: str, between: list[Any]
) -> None:
    """Two requests have one id, and a client says of the first that it is cancelled, badly."""
    environment = {**os.environ, "SEALWAX_KEYS": KEYS}
    args = [sys.executable, str(HERE / "waiting.py"), system]
    pipe = subprocess.PIPE
    one, other = agreed(), agreed()
    with subprocess.Popen(
        args, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        server, said = OnStdio(process), []

        def call(identity: Any, session: str, token: int) -> None:
            params = {"name": "it", "arguments": {}, "_meta": {"progressToken": token}}
            server.tell("tools/call", id=identity, params=params, sessionId=session)

        def hear() -> None:
            assert process.stdout is not None
            said.append(json.loads(process.stdout.readline()))

        call(1, one, 1)
        hear()
        for params in between:
            server.tell("notifications/cancelled", params=params, sessionId=one)
        call(1, other, 2)
        hear()
        # What a server says, and answers, while another session was the last to speak.
        call(3, other, 3)
        call(4, one, 4)
        for _ in range(6):
            hear()
        process.stdin.close()
        assert process.wait(10) == 0
    made_for = {1: one, 2: other, 3: other, 4: one}
    notes = [message for message in said if message.get("method") == "notifications/progress"]
    answers = [message["result"] for message in said if "result" in message]
    assert sorted(note["params"]["progress"] for note in notes) == [1, 2, 11, 12]
    for note in notes:
        assert note["sessionId"] == made_for[note["params"]["progressToken"]]
    assert sorted(answer["structuredContent"]["number"] for answer in answers) == [1, 2, 3, 4]
    for answer in answers:
        assert answer["sessionId"] == made_for[answer["structuredContent"]["number"]]


@SYSTEMS
def test_on_stdio_a_session_that_the_server_cannot_begin_again_is_refused(system: str) -> None:
    bad = [
        agreed(clientInfo={"name": 7, "version": "0"}),
        agreed(clientCapabilities=[]),
        agreed(clientInfo=None),
    ]
    with on_stdio(system) as server:
        for session in bad:
            assert server.ask("ping", sessionId=session) == refused(session)
            server.tell("notifications/roots/list_changed", sessionId=session)
        good = agreed()
        listed = server.ask("tools/list", "sealwax-replay", sessionId=good)["result"]
        assert (len(listed["tools"]), listed["sessionId"]) == (len(tally.TOOLS), good)
        # Once it has begun, what another session negotiated is not asked again.
        assert server.ask("ping", sessionId=bad[0])["result"] == {"sessionId": bad[0]}


@SYSTEMS
def test_on_stdio_what_ends_a_session_is_a_request(system: str) -> None:
    with on_stdio(system) as server:
        session = agreed()
        server.tell("session/terminate", sessionId=session)
        assert server.ask("ping", sessionId=session)["result"] == {"sessionId": session}
        assert server.ask("session/terminate", sessionId=session)["result"] == {}
        assert server.ask("ping", sessionId=session) == refused(session)


@SYSTEMS
def test_on_stdio_without_what_remembers_no_session_ends(system: str) -> None:
    with on_stdio(system, remembers=False) as server:
        session = agreed()
        for _ in range(2):
            told = server.ask("session/terminate", sessionId=session)
            assert told["error"]["code"] == -32601
        assert server.ask("ping", sessionId=session)["result"] == {"sessionId": session}


@SYSTEMS
def test_on_stdio_too_much_to_negotiate(system: str) -> None:
    with on_stdio(system) as server:
        answer = server.initialize(experimental={"x": {"pad": "x" * 3_500}})
        assert answer["error"] == sealwax.answer("sep-1359", sealwax.InternalError())["error"]


@SYSTEMS
async def test_on_stdio_requests_of_today_pass(system: str) -> None:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS, "SHOP_USER": "alice", "SEP1359": "60"}
    args = [str(HERE / "tally.py"), system]
    server = StdioServerParameters(command=sys.executable, args=args, env=environment)
    async with Client(server, mode="2026-07-28") as client:
        told = plain(await client.call_tool("peek", {}))["structuredContent"]
        assert told == {"session": None}

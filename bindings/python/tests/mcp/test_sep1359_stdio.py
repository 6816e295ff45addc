"""SEP-1359 on stdio: by the official client behind a shim, and line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import tally
from carriers import plain
from http_sessions import (
    KEYS,
)
from mcp import Client, StdioServerParameters
from processes import HERE, OnStdio, agreed, on_stdio

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


def command(system: str, transcript: Path, user: str = "alice") -> StdioServerParameters:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS, "SHOP_USER": user, "SEP1359": "60"}
    server = [sys.executable, str(HERE / "tally.py"), system]
    shim = [str(HERE / "sep1359_shim.py"), str(transcript), *server]
    return StdioServerParameters(command=sys.executable, args=shim, env=environment)


async def test_on_stdio_a_session_outlives_a_restart(tmp_path: Path) -> None:
    transcript = tmp_path / "said"
    async with Client(command("fastmcp", transcript), mode="legacy") as client:
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


def test_on_stdio_a_printing_tool_does_not_reach_the_wire() -> None:
    """The SDK protects its own streams in the same way."""
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
        server = OnStdio(process.stdin, process.stdout)
        first = server.initialize()["result"]
        server.tell("notifications/initialized")
        call = {"name": "shout", "arguments": {}}
        told = server.ask("tools/call", params=call, sessionId=first["sessionId"])
        assert told["result"]["content"][0]["text"] == "done"
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        assert "not a message" in process.stderr.read()


@pytest.mark.parametrize(
    ("system", "between"),
    [
        ("mcpserver", []),
        ("lowlevel", [{"requestId": True}]),
        ("fastmcp", [{"requestId": 1.5}, {"requestId": [1]}, {"requestId": None}, {}, [1]]),
    ],
)
def test_on_stdio_what_leaves_is_of_the_session_that_it_was_made_for(
    system: str, between: list[Any]
) -> None:
    """A client says of the first that it is cancelled, badly, and uses its id again, in vain."""
    environment = {**os.environ, "SEALWAX_KEYS": KEYS}
    args = [sys.executable, str(HERE / "waiting.py"), system]
    pipe = subprocess.PIPE
    one, other = agreed(), agreed()
    with subprocess.Popen(
        args, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        server, said = OnStdio(process.stdin, process.stdout), []

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
        assert said.pop()["error"]["code"] == -32600
        call(2, other, 2)
        hear()
        # What a server says, and answers, while another session was the last to speak.
        call(3, other, 3)
        call(4, one, 4)
        for _ in range(6):
            hear()
        process.stdin.close()
        assert process.wait(60) == 0
    made_for = {1: one, 2: other, 3: other, 4: one}
    notes = [message for message in said if message.get("method") == "notifications/progress"]
    answers = [message["result"] for message in said if "result" in message]
    assert sorted(note["params"]["progress"] for note in notes) == [1, 2, 11, 12]
    for note in notes:
        assert note["sessionId"] == made_for[note["params"]["progressToken"]]
    assert sorted(answer["structuredContent"]["number"] for answer in answers) == [1, 2, 3, 4]
    for answer in answers:
        assert answer["sessionId"] == made_for[answer["structuredContent"]["number"]]


def test_on_stdio_too_much_to_negotiate() -> None:
    with on_stdio("mcpserver") as server:
        answer = server.initialize(experimental={"x": {"pad": "x" * 3_500}})
        assert "sessionId" not in answer["result"]
        assert server.ask("ping")["result"] == {}

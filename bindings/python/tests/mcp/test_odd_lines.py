"""Whatever line a client writes, a server on stdio goes on and serves the next one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import count, product
from typing import TYPE_CHECKING, Any

import pytest
import wire
from lines import OnStdio, agreed, on_stdio
from shop import ALL, KEYS, Shop, guard

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio

DEEP = "[" * 5_000 + "]" * 5_000
#: Deeper than the engine reads, and not too deep for the SDK.
DEEP_FOR_US = "[" * 190 + "]" * 190
IDS = [
    *("true", "null", "1.5", "1e400", "NaN", "-0", '"x"', '""', "[]", "{}", "9007199254740993"),
    *("9" * 4_300, "9" * 4_400, r'"\ud800"', r'"\u0000"', DEEP),
]
METHODS = [
    *('"ping"', '"tools/list"', '"notifications/cancelled"', '"initialize"', '"session/terminate"'),
    *("7", "null", r'"\ud800"', f'"{"x" * 100_000}"', None),
]
MEMBERS = [
    *(f'"params":{value}' for value in ("[]", "7", "null", '{"_meta":7}', DEEP, DEEP_FOR_US)),
    *(f'"params":{{"name":"mint","arguments":{value}}}' for value in (DEEP, DEEP_FOR_US, "7")),
    *(f'"params":{{"x":{value}}}' for value in ("9" * 4_299, "NaN", "1e999", r'"\ud800"')),
    *(f'"params":{{"requestId":{value}}}' for value in ("true", "[1]", "null", DEEP_FOR_US)),
    *('"result":{}', '"result":7', '"result":{"sessionId":true}', f'"result":{DEEP_FOR_US}'),
    *('"error":7', '"error":{"code":1,"message":"x"}', '"jsonrpc":"1.0"', '"jsonrpc":null'),
    '"params":{"_meta":{"progressToken":true}}',
]
BARE = ["", "  ", "null", "[]", "[1]", "7", '"x"', "{", "{}", "\0", "\ufeff{}", DEEP]


def lines(session: str) -> Iterator[str]:
    for identity, method, said in product(IDS, METHODS, ('"x"', "true", session, None)):
        if said is not session or method != '"session/terminate"':
            members = {"id": identity, "method": method, "sessionId": said}
            yield line(*(f'"{name}":{value}' for name, value in members.items() if value))
    for member, method, numbered in product(MEMBERS, METHODS[:4], ('"id":1', '"id":true', None)):
        for said in ('"x"', session):
            yield line(numbered, f'"method":{method}', member, f'"sessionId":{said}')
    yield from BARE


def line(*members: str | None) -> str:
    said = ",".join(filter(None, ('"jsonrpc":"2.0"', *members)))
    return f"{{{said}}}"


async def listens(client: OnStdio, session: str, name: str) -> None:
    """Expect the server to serve a session; it may answer the lines before."""
    await client.say("tools/list", id=name, sessionId=session)
    while (heard := await client.hear()).get("id") != name:
        pass
    assert heard["result"]["sessionId"] == session, name


def with_shop(system: str) -> Any:
    of = guard(principal=lambda _ctx: wire.principal("alice"))
    return on_stdio(of, getattr(Shop(of), system)())


async def test_no_line_ends_or_deafens_a_server() -> None:
    session, numbers = agreed(), count()
    async with with_shop("mcpserver") as client:
        for odd in lines(json.dumps(session)):
            await client.write(odd)
            # The names tell which line it was.
            await listens(client, session, f"{next(numbers)}: {odd[:100]}")


#: The SDK refuses the first, and takes the next for a notification.
FIRST = [
    line('"id":1', '"method":"initialize"', '"params":{"protocolVersion":7}'),
    line('"method":"initialize"'),
    line('"id":true', '"method":"initialize"'),
    line('"id":true', '"method":"ping"', '"sessionId":"x"'),
]


@ALL
@pytest.mark.parametrize("first", FIRST)
async def test_no_first_line_makes_a_server_deaf_to_sessions(system: str, first: str) -> None:
    async with with_shop(system) as client:
        await client.write(first)
        if '"id"' in first:
            assert "error" in await client.hear()
        for number in range(2):
            await listens(client, agreed(), f"after {number}")


PRINTING = """
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


def test_what_a_tool_prints_does_not_reach_the_wire() -> None:
    """The SDK protects its own streams in the same way."""
    info = {"name": "raw", "version": "0"}
    begin = {"protocolVersion": wire.LEGACY, "capabilities": {}, "clientInfo": info}
    said = [
        line('"id":1', '"method":"initialize"', f'"params":{json.dumps(begin)}'),
        line('"method":"notifications/initialized"'),
        line('"id":2', '"method":"tools/call"', '"params":{"name":"shout","arguments":{}}'),
    ]
    with subprocess.Popen(
        [sys.executable, "-c", PRINTING],
        env={**os.environ, "SEALWAX_KEYS": KEYS},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join([*said, ""]))
        process.stdin.flush()
        told = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert told[1]["result"]["content"][0]["text"] == "done"
        assert "not a message" in process.communicate()[1]

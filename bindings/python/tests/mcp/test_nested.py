"""A server that a handler calls in its own process, behind the same guard."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
import wire
from mcp import Client
from mcp.server import MCPServer

import sealwax
from sealwax.mcp import Guard, Principal
from sealwax.mcp._transport.message import Transport
from sealwax.mcp._transport.stdio import serve

pytestmark = pytest.mark.anyio


async def test_who_asks_it_is_not_taken_from_the_message_on_stdio() -> None:
    asked: list[str] = []

    def principal(ctx: Any) -> Principal:
        asked.append((ctx.params or {}).get("name", ctx.method))
        return Principal(subject="alice")

    keys = sealwax.KeyRing([sealwax.Key.generate()])
    codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    guard = Guard(codec=codec, principal=principal)
    inner, outer = MCPServer[Any]("inner"), MCPServer[Any]("outer")

    async def deep() -> str:
        return "deep"

    async def relay() -> str:
        async with Client(inner) as client:
            return str((await client.call_tool("deep")).is_error)

    inner.tool()(deep)
    outer.tool()(relay)
    guard.protect(inner)
    guard.protect(outer)
    to_server, reads = anyio.create_memory_object_stream[str](8)
    writes, from_server = anyio.create_memory_object_stream[str](8)
    lines = wire.Lines(reads, writes)
    transport = Transport(guard, guard._engines, required=False, ttl=None, sep1359=True)

    async def ask(method: str, params: Any, **members: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **members}
        await to_server.send(json.dumps(message) + "\n")
        result: dict[str, Any] = json.loads(await from_server.receive())["result"]
        return result

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, outer._lowlevel_server, transport, lines, lines)
        info = {"name": "client", "version": "1"}
        begin = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        session = (await ask("initialize", begin))["sessionId"]
        call = {"name": "relay", "arguments": {}}
        told = await ask("tools/call", call, sessionId=session)
        tasks.cancel_scope.cancel()
    assert told["content"][0]["text"] == "False"
    assert asked == ["initialize", "relay", "deep"]

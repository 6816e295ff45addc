"""Servers on stdio, line by line."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import wire
from shop import view

from sealwax.mcp._handler.sdk import low_level
from sealwax.mcp._transport.exchange import Transport
from sealwax.mcp._transport.stdio import serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sealwax.mcp import Guard


class OnStdio:
    """A client of stdio in this process."""

    def __init__(self, sends: Any, hears: Any) -> None:
        self._sends, self._hears = sends, hears

    async def say(self, method: str, **members: Any) -> None:
        await self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": {}, **members}))

    async def write(self, line: str) -> None:
        await self._sends.send(line + "\n")

    async def hear(self) -> dict[str, Any]:
        with anyio.fail_after(60):
            heard: dict[str, Any] = json.loads(await self._hears.receive())
        return heard

    async def ask(self, method: str, **members: Any) -> dict[str, Any]:
        await self.say(method, **{"id": 1, **members})
        return await self.hear()


@asynccontextmanager
async def on_stdio(of: Guard, server: Any) -> AsyncIterator[OnStdio]:
    sends, reads = anyio.create_memory_object_stream[str](8)
    writes, hears = anyio.create_memory_object_stream[str](8)
    lines = wire.Lines(reads, writes)
    transport = Transport(of, required=False, ttl=None, sep1359=True)
    async with anyio.create_task_group() as group:
        group.start_soon(serve, low_level(server), transport, lines, lines)
        yield OnStdio(sends, hears)
        group.cancel_scope.cancel()


def agreed(**members: Any) -> str:
    """Seal what a client negotiated with another process."""
    payload = {
        "protocolVersion": wire.LEGACY,
        "clientCapabilities": {},
        "clientInfo": {"name": "raw", "version": "0"},
        "serverCapabilities": {},
        **members,
    }
    return view().session().seal_json(payload)

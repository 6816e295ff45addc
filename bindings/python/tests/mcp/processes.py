"""Servers on stdio, line by line, and the examples as processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import wire
from mcp import StdioServerParameters
from shop import KEYS, view

from sealwax.mcp._handler.sdk import low_level
from sealwax.mcp._transport.exchange import Transport
from sealwax.mcp._transport.stdio import serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from sealwax.mcp import Guard


@contextmanager
def example(file: Path, log: list[str] | None = None, **environment: str) -> Iterator[str]:
    """Run an example that serves HTTP; give its address."""
    told = {**os.environ, "SEALWAX_KEYS": KEYS, "PORT": "0", **environment}
    command = [sys.executable, str(file)]
    with subprocess.Popen(command, env=told, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            line = server.stderr.readline()
            found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/mcp)\n", line)
            assert found, line
            yield found[1]
        finally:
            server.terminate()
            if log is not None:
                log += server.stderr.read().splitlines()


def example_on_stdio(file: Path) -> StdioServerParameters:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS}
    return StdioServerParameters(command=sys.executable, args=[str(file)], env=environment)


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
    transport = Transport(of, of._engines, required=False, ttl=None, sep1359=True)
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

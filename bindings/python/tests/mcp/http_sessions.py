"""A tally behind `guard.asgi`, and requests that no official client sends."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import tally
import wire

import sealwax
from sealwax.mcp import Guard, Refusal, principal_from_access_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

KEYS = str(sealwax.Key.generate().to_text())
SYSTEMS = pytest.mark.parametrize("system", tally.SYSTEMS)
REVISION = "2025-11-25"


class Recording(httpx2.AsyncHTTPTransport):
    """Keeps what the official client sent, and what it was answered."""

    def __init__(self) -> None:
        super().__init__(verify=False)
        self.seen: list[tuple[httpx2.Request, httpx2.Response]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        self.seen.append((request, response))
        return response


class Served:
    def __init__(self, url: str, refusals: list[Refusal] | None = None) -> None:
        self.url, self.refusals = url, [] if refusals is None else refusals

    @property
    def codes(self) -> list[str]:
        return [refusal.code for refusal in self.refusals]

    async def send(
        self,
        method: str = "tools/call",
        session: str | None = None,
        *,
        params: Any = None,
        version: str | None = REVISION,
    ) -> httpx2.Response:
        """Send a request as alice, with the header."""
        headers = {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {wire.bearer('alice')}",
            "Mcp-Session-Id": session,
            "MCP-Protocol-Version": version,
        }
        given = params or {"name": "agreed", "arguments": {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
        sent = {name: value for name, value in headers.items() if value is not None}
        async with wire.http(headers=sent) as client:
            return await client.post(self.url, json=message)

    async def initialize(self) -> httpx2.Response:
        info = {"name": "raw", "version": "1.2"}
        params = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": info}
        return await self.send("initialize", version=None, params=params)

    async def session(self) -> str:
        return (await self.initialize()).headers["mcp-session-id"]


@asynccontextmanager
async def served(
    system: str = "mcpserver",
    *,
    guard: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Served]:
    refusals: list[Refusal] = []
    defaults: Any = {
        "codec": tally.codec(KEYS),
        "principal": principal_from_access_token,
        "on_refused": refusals.append,
    }
    made = Guard(**{**defaults, **(guard or {})})
    app = wire.app(system, tally.Tally(made, required=None), where=tally, **options)
    with wire.listening(made.asgi(app)) as url:
        yield Served(url, refusals)

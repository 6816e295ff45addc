"""A tally behind `guard.asgi`, and requests that no official client sends."""

from __future__ import annotations

import json
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
CLIENT = {"name": "raw", "version": "1.2"}


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
    def __init__(self, url: str, of: tally.Tally, refusals: list[Refusal]) -> None:
        self.url, self.of, self.refusals = url, of, refusals

    @property
    def codes(self) -> list[str]:
        return [refusal.code for refusal in self.refusals]

    async def send(
        self,
        method: str = "tools/call",
        session: str | None = None,
        *,
        http: str = "POST",
        user: str = "alice",
        version: str | None = REVISION,
        identity: Any = 1,
        params: Any = None,
        body: Any = None,
        **members: Any,
    ) -> httpx2.Response:
        """Send a request, as alice unless said, with the header."""
        headers = {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {wire.bearer(user)}",
            "Content-Type": "application/json",
        }
        if session is not None:
            headers["Mcp-Session-Id"] = session
        if version is not None:
            headers["MCP-Protocol-Version"] = version
        given = {"name": "agreed", "arguments": {}} if method == "tools/call" else {}
        message = {"jsonrpc": "2.0", "method": method, "params": params or given, **members}
        if identity is not None:
            message["id"] = identity
        content = json.dumps(message) if body is None else body
        sent: Any = {"headers": headers, "content": content if http == "POST" else None}
        async with wire.http() as client, client.stream(http, self.url, **sent) as told:
            if http != "GET" or told.status_code != 200:
                # What the SDK says to a GET never ends.
                await told.aread()
            return told

    async def initialize(self, user: str = "alice", **capabilities: Any) -> httpx2.Response:
        params = {
            "protocolVersion": REVISION,
            "capabilities": capabilities,
            "clientInfo": CLIENT,
        }
        return await self.send("initialize", user=user, version=None, params=params)

    async def session(self, user: str = "alice") -> str:
        return (await self.initialize(user)).headers["mcp-session-id"]


@asynccontextmanager
async def served(
    system: str = "mcpserver",
    *,
    guard: dict[str, Any] | None = None,
    app: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Served]:
    refusals: list[Refusal] = []
    defaults: Any = {
        "codec": tally.codec(KEYS),
        "principal": principal_from_access_token,
        "on_refused": refusals.append,
    }
    made = Guard(**{**defaults, **(guard or {})})
    of = tally.Tally(made, required=None)
    wrapped = made.asgi(wire.app(system, of, where=tally, **(app or {})), **options)
    with wire.listening(wrapped) as url:
        yield Served(url, of, refusals)

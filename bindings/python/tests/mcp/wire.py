"""Real transports: a server on HTTP at a port of its own, official clients, and others."""

from __future__ import annotations

import json
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import asgi
import httpx2
import jwt
from fastmcp.server.auth.providers.jwt import JWTVerifier
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

from sealwax.mcp import Principal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ISSUER = "https://idp.example.com"
LEGACY = "2025-11-25"
SECRET = "of the tests, and long enough for HS256"
listening = asgi.listening


def bearer(user: str, **more: Any) -> str:
    claims = {"iss": ISSUER, "sub": user, "client_id": "cli-7", "exp": time.time() + 600}
    claims["aud"] = ["https://notes.example.com", "https://counter.example.com"]
    claims = {name: value for name, value in {**claims, **more}.items() if value is not None}
    return jwt.encode(claims, SECRET, algorithm="HS256")


def principal(user: str) -> Principal:
    """The principal of :func:`bearer`, and of stdio."""
    return Principal(ISSUER, "cli-7", user)


class Verifier:
    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            claims = jwt.decode(token, SECRET, algorithms=["HS256"], options={"verify_aud": False})
        except jwt.InvalidTokenError:
            return None
        client = claims.get("client_id", "unknown")
        return AccessToken(token=token, client_id=client, scopes=[], claims=claims)


def app(system: str, of: Any, *, stateless: bool = True, **options: Any) -> Any:
    """Return the application of a :class:`shop.Shop`, with users."""
    options["stateless_http"] = stateless
    auth = AuthSettings.model_validate({"issuer_url": ISSUER, "resource_server_url": None})
    if system == "mcpserver":
        server = of.mcpserver(auth=auth, token_verifier=Verifier())
        return server.streamable_http_app(**options)
    if system == "fastmcp":
        verifier = JWTVerifier(public_key=SECRET, algorithm="HS256")
        return of.fastmcp(auth=verifier).http_app(**options)
    return of.lowlevel().streamable_http_app(auth=auth, token_verifier=Verifier(), **options)


def http(**options: Any) -> httpx2.AsyncClient:
    """Return a patient client; without TLS, for loading its certificates takes 50 ms."""
    return httpx2.AsyncClient(timeout=60, verify=False, **options)


@asynccontextmanager
async def over_http(
    url: str, user: str, claims: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {bearer(user, **(claims or {}))}"}
    hooks = options.pop("event_hooks", None)
    async with (
        http(headers=headers, event_hooks=hooks) as client_http,
        Client(streamable_http_client(url, http_client=client_http), **options) as client,
    ):
        yield client


async def post(
    url: str,
    method: str,
    params: Any = None,
    *,
    revision: str | None = "2026-07-28",
    identity: int | None = 1,
    session: str | None = None,
) -> httpx2.Response:
    """Send what no official client would, as alice."""
    sent = {**(params or {})}
    headers = {
        "Authorization": f"Bearer {bearer('alice')}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": revision,
        "Mcp-Session-Id": session,
    }
    if revision == "2026-07-28":
        target = sent.get("name", sent.get("uri"))
        headers.update(
            {"Mcp-Method": method, "Mcp-Name": target if isinstance(target, str) else None}
        )
        envelope = {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        sent["_meta"] = {**sent.get("_meta", {}), **envelope}
    body = {"jsonrpc": "2.0", "method": method, "params": sent, "id": identity}
    text = json.dumps({name: one for name, one in body.items() if one is not None})
    given = {name: one for name, one in headers.items() if one is not None}
    async with http(headers=given) as client:
        return await client.post(url, content=text)


async def raw(url: str, method: str, params: Any = None, **more: Any) -> dict[str, Any]:
    """Post it; return the message that answers."""
    return told((await post(url, method, params, **more)).text)


async def begun(url: str) -> str:
    """Begin a session of the transport; return what its header holds."""
    info = {"name": "raw", "version": "1.2"}
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info}
    answer = await post(url, "initialize", params, revision=None)
    return answer.headers["mcp-session-id"]


async def in_session(url: str, method: str, params: Any, **more: Any) -> dict[str, Any]:
    """Send it in a session of its own; return the message that answers."""
    return await raw(
        url, method, params, **{"revision": LEGACY, "session": await begun(url), **more}
    )


def told(text: str) -> dict[str, Any]:
    """Return the last message of a body, of JSON or of events."""
    lines = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    message: dict[str, Any] = json.loads((lines[-1] if lines else text) or "{}")
    return message


class Lines:
    """Two streams of lines, as the files that stdio has."""

    def __init__(self, reads: Any, writes: Any) -> None:
        self._reads, self._writes = reads, writes

    async def readline(self) -> bytes:
        try:
            line: str = await self._reads.receive()
        except anyio.EndOfStream:
            return b""
        return line.encode()

    async def write(self, text: str) -> None:
        await self._writes.send(text)

    async def flush(self) -> None:
        """Nothing to do."""

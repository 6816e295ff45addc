"""The codec for servers that keep the SDK's own boundary."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
import shop
import wire
from carriers import RequestState
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.request_state import (
    InvalidRequestState,
    RequestStateSecurity,
)

import sealwax
from sealwax.mcp import (
    EnvelopeCodec,
)

pytestmark = pytest.mark.anyio
KEYS = str(sealwax.Key.generate().to_text())


def test_the_sdks_boundary_is_told_why() -> None:
    envelope = EnvelopeCodec(codec=shop.codec(KEYS), principal=wire.principal("alice"))
    other = EnvelopeCodec(codec=shop.codec(KEYS), principal="anonymous")
    assert envelope.unseal(envelope.seal(b"{}")) == b"{}"
    for token, code in ((other.seal(b"{}"), "principal_mismatch"), ("no token", "malformed")):
        with pytest.raises(InvalidRequestState, match=code):
            envelope.unseal(token)


def test_it_follows_the_keys_of_its_codec() -> None:
    codec, other = shop.codec(KEYS), sealwax.Key.generate()
    for principal in (wire.principal("alice"), "anonymous"):
        codec.set_keys(KEYS)
        envelope = EnvelopeCodec(codec=codec, principal=principal)
        token = envelope.seal(b"{}")
        codec.set_keys(sealwax.KeyRing([other]))
        with pytest.raises(InvalidRequestState, match="unknown_key"):
            envelope.unseal(token)


@pytest.mark.parametrize("principal", ["alice", None, {"subject": "alice"}])
def test_an_envelope_is_nobodys_by_name_only(principal: Any) -> None:
    with pytest.raises(sealwax.InvalidArgument, match="expected a Principal"):
        EnvelopeCodec(codec=shop.codec(KEYS), principal=principal)


async def test_without_a_guard_fastmcp_takes_a_state_that_nobody_opened() -> None:
    """A fault of FastMCP 4.1: if this fails it is mended, and EnvelopeCodec need not warn of it."""
    codec = EnvelopeCodec(codec=shop.codec(KEYS), principal="anonymous")
    server: FastMCP[Any] = FastMCP("s", request_state_security=RequestStateSecurity(codec=codec))

    async def ask(ctx: FastContext) -> str:
        return f"state: {ctx.request_state}"

    server.tool(ask)
    forged = {"name": "ask", "arguments": {}, "request_state": "forged"}
    with wire.listening(server.http_app(stateless_http=True)) as url:
        told = await wire.raw(url, "tools/call", forged, name="ask")
    assert told["result"]["content"][0]["text"] == "state: forged"


@pytest.mark.parametrize("make", [MCPServer, FastMCP])
async def test_for_those_who_keep_the_sdks_boundary(make: Any) -> None:
    security = RequestStateSecurity(
        codec=EnvelopeCodec(codec=shop.codec(KEYS), principal="anonymous")
    )
    server = make("shop", request_state_security=security)
    context = Context if make is MCPServer else FastContext

    async def ask(ctx: Any, id: int) -> types.InputRequiredResult | types.CallToolResult:
        if ctx.request_state is None:
            asked: types.InputRequests = {"sure": shop.QUESTION}
            return types.InputRequiredResult(input_requests=asked, request_state="plain text")
        return types.CallToolResult(content=[types.TextContent(text=ctx.request_state)])

    ask.__annotations__["ctx"] = context
    server.tool()(ask)
    app = (
        server.streamable_http_app(stateless_http=True)
        if make is MCPServer
        else server.http_app(stateless_http=True)
    )
    carrier = RequestState()
    with wire.listening(app) as url:
        async with Client(url) as client:
            state = await carrier.good(client)
            assert state.startswith("sw1.")
            told = await carrier.present(client, state)
            assert told["content"][0]["text"] == "plain text"
            for answer in (
                await carrier.present(client, state, id=8),
                await carrier.present(client, state[:-1]),
                await carrier.present(client, "no token"),
                await carrier.present(client, carrier.forge(shop.codec(KEYS).view(anonymous=True))),
            ):
                assert answer == carrier.refusal

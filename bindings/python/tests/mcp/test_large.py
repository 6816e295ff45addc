"""Values that are deep or large: answered like others, and the server goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import wire
from guarded import KEYS, served
from lone import Lone
from shop import codec

import sealwax
from sealwax.mcp import Guard, HandleRefused

if TYPE_CHECKING:
    from sealwax.mcp import Refusal

pytestmark = pytest.mark.anyio
INTERNAL = {"code": -32603, "message": "Internal error"}


#: The SDK reads the second, which is deeper than the engine reads; and not the others.
@pytest.mark.parametrize("depth", [100, 190, 1_000, 5_000, 500_000])
async def test_deep_arguments_of_a_tool_are_answered(depth: int) -> None:
    headers = {
        "Authorization": f"Bearer {wire.bearer('alice')}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "ask",
    }
    body = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"id":7,'
        f'"more":{"[" * depth}{"]" * depth}}},'
        '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        '"io.modelcontextprotocol/clientCapabilities":{}}}}'
    )
    async with served() as of:
        async with wire.http(headers=headers) as client:
            response = await client.post(of.url, content=body)
        assert response.status_code in (200, 400)
        told = wire.told(response.text)
        asks = "error" not in told and told["result"]["resultType"] == "input_required"
        assert asks or "error" in told or told["result"]["isError"]
        assert {one.code for one in of.refusals} <= {"invalid_argument"}


async def test_an_authors_value_that_is_too_deep_or_too_large_is_an_error() -> None:
    """Such as one that a client sent as a text of JSON: no value takes the server down."""
    refusals: list[Refusal] = []
    guard = Guard(codec=codec(KEYS), principal="anonymous", on_refused=refusals.append)
    sessions, held = guard.sessions(initial=lambda _ctx: 0), guard.self_contained_handles("order")
    deep: Any = 0
    for _ in range(5_000):
        deep = [deep]
    asked: list[str] = []
    values = {"deep": deep, "2 MiB": "x" * (2 << 20), "17 MiB": "x" * (17 << 20)}

    async def it(ctx: Any) -> dict[str, Any]:
        session = sessions.of(ctx)
        assert session is not None
        for value in values.values():
            with pytest.raises(sealwax.SealwaxError):
                guard.state(ctx, value)
            with pytest.raises((sealwax.SealwaxError, HandleRefused)):
                await held.seal(ctx, value)
        with pytest.raises(sealwax.InvalidArgument, match="a value that JSON can hold"):
            session.write(deep)
        session.write(values.get(asked[-1]))
        return {}

    session = codec(KEYS).view(anonymous=True).sessions().create(b"0")
    app = wire.app("lowlevel", None, where=Lone(guard, it))
    with wire.listening(app) as url:
        meta = {"io.modelcontextprotocol/session": session}
        for name, error in (("2 MiB", INTERNAL), ("17 MiB", INTERNAL), ("none", None)):
            asked.append(name)
            params = {"name": "it", "arguments": {}, "_meta": meta}
            told = await wire.raw(url, "tools/call", params, name="it")
            assert told.get("error") == error, name
            assert error or not told["result"].get("isError"), told
    assert [one.code for one in refusals if one.kind == "session"] == ["too_large"] * 2
    # Whoever operates the server hears of it too, also where the handler catches it.
    for kind, number in {"request-state": 6, "handle-state": 6}.items():
        found = {(one.code, one.method, one.target) for one in refusals if one.kind == kind}
        assert found == {("too_large", "tools/call", "it")}, kind
        assert sum(one.kind == kind for one in refusals) == number

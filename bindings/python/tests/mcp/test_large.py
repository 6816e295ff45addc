"""Messages that are deep or large: answered like others, and the server goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import wire
from guarded import KEYS
from guarded import served as shop_served
from http_sessions import SYSTEMS, served
from lone import Lone
from shop import codec

import sealwax
from sealwax.mcp import Guard, HandleRefused

if TYPE_CHECKING:
    from sealwax.mcp import Refusal

pytestmark = pytest.mark.anyio
INTERNAL = {"code": -32603, "message": "Internal error"}


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def message(method: str, **params: str) -> str:
    members = ",".join(f'"{name}":{text}' for name, text in params.items())
    return f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{members}}}}}'


#: The SDK reads the second, and not the others.
DEPTHS = (100, 190, 1_000, 5_000, 500_000)


@SYSTEMS
@pytest.mark.parametrize("sep1359", [False, True])
async def test_a_deep_message_over_http_is_answered(system: str, sep1359: bool) -> None:
    async with served(system, sep1359=sep1359) as of:
        session = await of.session()
        for depth in DEPTHS:
            deep = nested(depth)
            for body in (
                message("initialize", capabilities=deep),
                message("initialize", protocolVersion='"2025-11-25"', clientInfo=deep),
                message("tools/list", _meta=deep),
                message("tools/call", name='"agreed"', arguments=f'{{"size":{deep}}}'),
                message("tools/call", name=deep),
                message("demo", x=deep)[:-1] + f',"sessionId":{deep}}}',
                f'{{"jsonrpc":"2.0","id":1,"result":{{"x":{deep}}}}}',
                deep,
            ):
                for version in ("2025-11-25", None):
                    told = await of.send(session=session, version=version, body=body)
                    # 500 is nobody's answer to what a client sent.
                    assert told.status_code in (200, 202, 400, 404), (depth, body[:80])
        assert (await of.send("tools/list", session)).status_code == 200


@pytest.mark.parametrize("depth", DEPTHS)
async def test_deep_arguments_of_a_tool_are_answered(depth: int) -> None:
    async with shop_served() as of:
        deep = nested(depth)
        headers = {
            "Authorization": f"Bearer {wire.bearer('alice')}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "ask",
        }
        envelope = (
            '{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
            '"io.modelcontextprotocol/clientCapabilities":{}}'
        )
        arguments = f'{{"id":7,"more":{deep}}}'
        body = message("tools/call", name='"ask"', arguments=arguments, _meta=envelope)
        async with wire.http(headers=headers) as client:
            response = await client.post(of.url, content=body)
        assert response.status_code in (200, 400)
        told = wire.told(response.text)
        asks = "error" not in told and told["result"]["resultType"] == "input_required"
        assert asks or "error" in told or told["result"]["isError"]
        assert {one.code for one in of.refusals} <= {"invalid_argument"}


@pytest.mark.parametrize("system", ["mcpserver", "lowlevel", "fastmcp"])
async def test_an_authors_value_that_is_too_deep_or_too_large_is_an_error(system: str) -> None:
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
    app = wire.app(system, None, where=Lone(guard, it))
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


@pytest.mark.parametrize("size", [2 << 20, (2 << 20) + 1, 3_000_000])
async def test_a_state_of_the_authors_that_is_too_large_is_an_internal_error(size: int) -> None:
    """The SDK's own way to leave a state, as plain text."""
    guard = Guard(codec=codec(KEYS), principal="anonymous")

    async def it(_ctx: Any) -> Any:
        from mcp_types import InputRequiredResult

        return InputRequiredResult(request_state="x" * size)

    with wire.listening(wire.app("lowlevel", None, where=Lone(guard, it))) as url:
        for _ in range(2):
            params = {"name": "it", "arguments": {}}
            told = await wire.raw(url, "tools/call", params, name="it")
            assert told["error"] == INTERNAL


async def test_a_token_of_three_megabytes_gets_the_fixed_answer() -> None:
    token = "sw1." + "A" * 3_000_000
    async with shop_served() as of:
        params = {"name": "ask", "arguments": {"id": 7}, "requestState": token}
        told = await wire.raw(of.url, "tools/call", params, name="ask")
        assert told["error"] == sealwax.answer("request-state")["error"]
        told = await wire.raw(of.url, "resources/list", {"cursor": token})
        assert told["error"] == sealwax.answer("cursor")["error"]
        assert {one.code for one in of.refusals} == {"too_large"}
    async with served(sep1359=True) as tally:
        told = wire.told((await tally.send("ping", sessionId=token)).text)
        assert told["error"] == sealwax.answer("sep-1359")["error"]

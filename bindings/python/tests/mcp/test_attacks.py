"""What the SDKs' models make of a member under its name in Python, as a client can send it."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
import wire
from carriers import STATE, meta
from fastmcp.server.middleware import Middleware
from ledgers import memory
from mcp_types import INVALID_PARAMS, InputRequiredResult
from shop import ALL, Shop, guard, served, view

import sealwax

pytestmark = pytest.mark.anyio
FORGED = '{"asked":7}'


@ALL
async def test_a_state_under_its_name_in_python_is_refused(system: str) -> None:
    """FastMCP's models took `request_state` for it, and the boundary had not opened that."""
    asking: dict[str, dict[str, Any]] = {"tools/call": {"name": "ask", "arguments": {"id": 7}}}
    if system != "lowlevel":
        asking["prompts/get"] = {"name": "quiz", "arguments": {"id": "7"}}
        asking["resources/read"] = {"uri": "secret:///a"}
    async with served(system) as of:
        for method, params in asking.items():
            of.refusals.clear()
            sealed = (await of.raw(method, params))["result"]["requestState"]
            of.shop.ran.clear()
            for sent in (
                {"request_state": FORGED},
                {"request_state": FORGED, "requestState": sealed},
                {"request_state": {"v": 1}},
                {"request_state": sealed},
            ):
                assert STATE.refused(await of.raw(method, {**params, **sent}))
            assert (of.codes, of.shop.ran) == (["malformed"] * 4, [])
            # Nothing is nothing: so a client writes what it has not.
            nothing = {"request_state": None, "meta": None}
            for state, told in ((None, "input_required"), (sealed, "complete")):
                sent = {**params, **nothing, "requestState": state}
                assert (await of.raw(method, sent))["result"]["resultType"] == told


@ALL
async def test_a_session_under_its_name_in_python_is_refused(system: str) -> None:
    seen = list[Any]()

    async def own(ctx: Any, _params: Any) -> dict[str, Any]:
        seen.append(of.shop.sessions.of(ctx))
        return {}

    (session,) = meta(view().sessions().create(b"7")).values()
    sent = {"name": "mint", "arguments": {}, "meta": session}
    shop = {"sessions": {}, "handlers": {"example/own": own}}
    async with served(system, ledger=memory(), shop=shop) as of:
        for revision in ("2026-07-28", wire.LEGACY):
            for method in ("tools/call", "tools/list", "sessions/delete"):
                told = await of.raw(method, sent, revision=revision)
                assert told["error"] == sealwax.answer("data-layer")["error"], method
        note = "notifications/roots/list_changed"
        await of.raw(note, sent, revision=wire.LEGACY, identity=None)
        with anyio.fail_after(60):
            while len(of.refusals) < 7:
                await anyio.sleep(0.01)
        assert {(one.kind, one.code) for one in of.refusals} == {("session", "malformed")}
        # A method of the author's own may have such a member.
        assert "error" not in await of.raw("example/own", {"meta": session})
    assert seen == [None]


async def test_who_only_sees_a_refused_request_reads_no_state_of_it() -> None:
    """FastMCP shows its middleware what failed before a handler ran, with the params as sent."""
    made, seen = guard(), list[Any]()

    class Seeing(Middleware):
        async def on_message(self, context: Any, call_next: Any) -> Any:
            if context.method == "tools/call":
                try:
                    seen.append(made.opened(context.fastmcp_context))
                except sealwax.InvalidArgument as error:
                    seen.append(type(error))
            return await call_next(context)

    async def it(ctx: Any) -> Any:
        if made.opened(ctx) is not None:
            return {}
        return InputRequiredResult(request_state=made.state(ctx, "mine"))

    server = Shop(made, it).fastmcp(middleware=[Seeing()])
    call = {"name": "it", "arguments": {}}
    with wire.listening(server.http_app(stateless_http=True)) as url:
        for sent in ({"request_state": FORGED}, {"requestState": FORGED}):
            assert STATE.refused(await wire.raw(url, "tools/call", {**call, **sent}))
        asked = await wire.raw(url, "tools/call", call)
        again = {**call, "requestState": asked["result"]["requestState"]}
        assert "error" not in await wire.raw(url, "tools/call", again)
    assert seen == [sealwax.InvalidArgument, sealwax.InvalidArgument, None, "mine"]


@ALL
async def test_a_tool_whose_name_is_no_text_is_no_failure_of_the_server(system: str) -> None:
    made = guard()
    made.confirm("mint", "Sure?")
    shop = Shop(made, sessions={"required": {"tools": ["mint"]}})
    with wire.listening(wire.app(system, shop)) as url:
        for name in (["mint"], {"mint": 1}, 7, None):
            sent = {"name": name, "arguments": {}}
            told = await wire.raw(url, "tools/call", sent, revision=wire.LEGACY)
            assert told["error"]["code"] == INVALID_PARAMS
            assert "unhashable" not in json.dumps(told)

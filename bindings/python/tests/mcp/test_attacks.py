"""What the SDKs' models make of a member under its name in Python, as a client can send it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import shop
import tally
import wire
from carriers import RequestState, view
from data_layer import meta
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from guarded import KEYS, SYSTEMS, served
from ledgers import memory
from lone import SYSTEMS as LONE
from lone import Lone
from mcp.server.request_state import RequestStateSecurity
from mcp_types import INVALID_PARAMS, InputRequiredResult

import sealwax
from sealwax.mcp import Guard, principal_from_access_token

if TYPE_CHECKING:
    from sealwax.mcp import Refusal

pytestmark = pytest.mark.anyio
FORGED = '{"asked":7,"pad":""}'
ALONE = pytest.mark.parametrize("system", LONE)


@SYSTEMS
async def test_a_state_under_its_name_in_python_is_refused(system: str) -> None:
    """FastMCP's models took `request_state` for it, and the boundary had not opened that."""
    prompt = "ask" if system == "lowlevel" else "quiz"
    asking: dict[str, dict[str, Any]] = {
        "tools/call": {"name": "ask", "arguments": {"id": 7}},
        "prompts/get": {"name": prompt, "arguments": {"id": "7"}},
        "resources/read": {"uri": "secret:///a"},
    }
    async with served(system) as of:
        for method, params in asking.items():
            of.refusals.clear()
            name = params.get("name") or params["uri"]
            sealed = (await wire.raw(of.url, method, params, name=name))["result"]["requestState"]
            of.shop.ran.clear()
            for sent in (
                {"request_state": FORGED},
                {"request_state": FORGED, "requestState": sealed},
                {"request_state": {"v": 1}},
                {"request_state": sealed},
            ):
                told = await wire.raw(of.url, method, {**params, **sent}, name=name)
                assert told["error"] == RequestState.refusal["error"]
            assert of.codes == ["malformed"] * 4
            assert of.shop.ran == []
            # Nothing, by either name, is nothing: so a client writes what it has not.
            nothing = {"request_state": None, "requestState": None, "meta": None}
            told = await wire.raw(of.url, method, {**params, **nothing}, name=name)
            assert told["result"]["resultType"] == "input_required"


@ALONE
async def test_a_session_under_its_name_in_python_is_refused(system: str) -> None:
    refusals: list[Refusal] = []
    guard = Guard(
        codec=tally.codec(KEYS),
        principal=principal_from_access_token,
        on_refused=refusals.append,
        ledger=memory(),
    )
    sessions, seen = guard.sessions(initial=lambda _ctx: 7), list[Any]()

    async def own(ctx: Any, _params: Any) -> dict[str, Any]:
        seen.append(sessions.of(ctx))
        return {}

    async def it(_ctx: Any) -> None:
        raise AssertionError

    app = wire.app(system, None, where=Lone(guard, it, {"example/own": own}))
    session = view(tally.codec(KEYS), wire.principal("alice")).sessions().create(b"7")
    sent = {"name": "it", "arguments": {}, "meta": meta(session)}
    note = "notifications/roots/list_changed"
    with wire.listening(app) as url:
        for revision in ("2026-07-28", "2025-11-25"):
            for method in ("tools/call", "tools/list", "sessions/delete"):
                told = await wire.raw(url, method, sent, revision=revision, name="it")
                assert told["error"] == sealwax.answer("data-layer")["error"], method
        await wire.raw(url, note, sent, revision="2025-11-25", identity=None)
        with anyio.fail_after(60):
            while len(refusals) < 7:
                await anyio.sleep(0.01)
        assert [(one.kind, one.code) for one in refusals] == [("session", "malformed")] * 7
        # A method of the author's own may have such a member.
        assert "error" not in await wire.raw(url, "example/own", {"meta": meta(session)})
    assert seen == [None]


async def test_who_only_sees_a_refused_request_reads_no_state_of_it() -> None:
    """FastMCP shows its middleware what failed before a handler ran, with the params as sent."""
    guard = Guard(codec=shop.codec(KEYS), principal=principal_from_access_token)
    seen: list[Any] = []

    class Seeing(Middleware):
        async def on_message(self, context: Any, call_next: Any) -> Any:
            if context.method != "tools/call":
                return await call_next(context)
            try:
                seen.append(guard.opened(context.fastmcp_context))
            except sealwax.InvalidArgument as error:
                seen.append(type(error))
            return await call_next(context)

    async def it(ctx: Any) -> Any:
        if guard.opened(ctx) is not None:
            return {}
        return InputRequiredResult(request_state=guard.state(ctx, "mine"))

    class Seen(Lone):
        def fastmcp(self, _of: Any, **options: Any) -> Any:
            return super().fastmcp(_of, middleware=[Seeing()], **options)

    call = {"name": "it", "arguments": {}}
    with wire.listening(wire.app("fastmcp", None, where=Seen(guard, it))) as url:
        for sent in ({"request_state": FORGED}, {"requestState": FORGED}):
            told = await wire.raw(url, "tools/call", {**call, **sent}, name="it")
            assert told["error"] == RequestState.refusal["error"]
        asked = await wire.raw(url, "tools/call", call, name="it")
        again = {**call, "requestState": asked["result"]["requestState"]}
        assert "error" not in await wire.raw(url, "tools/call", again, name="it")
    assert seen == [sealwax.InvalidArgument, sealwax.InvalidArgument, None, "mine"]


async def test_without_a_guard_fastmcp_takes_a_state_that_nobody_opened() -> None:
    """A fault of FastMCP: if this fails it is mended, and docs/start/python.md need not warn."""
    security = RequestStateSecurity(keys=["a key of a server without a guard"])
    server: FastMCP[Any] = FastMCP("s", request_state_security=security)

    async def ask(ctx: FastContext) -> str:
        return f"state: {ctx.request_state}"

    server.tool(ask)
    forged = {"name": "ask", "arguments": {}, "request_state": "forged"}
    with wire.listening(server.http_app(stateless_http=True)) as url:
        told = await wire.raw(url, "tools/call", forged, name="ask")
    assert told["result"]["content"][0]["text"] == "state: forged"


@ALONE
async def test_a_tool_whose_name_is_no_text_is_no_failure_of_the_server(system: str) -> None:
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    guard.confirm("it", "Sure?")
    guard.sessions(initial=lambda _ctx: 0, required={"tools": ["it"]})

    async def it(_ctx: Any) -> None:
        raise AssertionError

    with wire.listening(wire.app(system, None, where=Lone(guard, it))) as url:
        for name in (["it"], {"it": 1}, 7, None):
            sent = {"name": name, "arguments": {}}
            told = await wire.raw(url, "tools/call", sent, revision="2025-11-25")
            assert told["error"]["code"] == INVALID_PARAMS
            assert "unhashable" not in json.dumps(told)

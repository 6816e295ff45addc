"""Attacks on the guard, over HTTP as a client can make them, on every kind of server."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
import shop
import tally
import wire
from carriers import RequestState, view
from data_layer import created, meta
from data_layer import served as served_with_sessions
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from guarded import KEYS, SYSTEMS, served
from ledgers import memory
from lone import SYSTEMS as LONE
from lone import Lone
from mcp.server.request_state import RequestStateSecurity

import sealwax
from sealwax.mcp import SESSION_META_KEY, Guard, principal_from_access_token

if TYPE_CHECKING:
    from sealwax.mcp import Refusal

pytestmark = pytest.mark.anyio
REVISIONS = ("2026-07-28", "2025-11-25")
FORGED = '{"asked":7,"pad":""}'
ALONE = pytest.mark.parametrize("system", LONE)
#: The calls whose handlers may ask back, by what names them.
ASKING: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "ask", "arguments": {"id": 7}},
    "prompts/get": {"name": "quiz", "arguments": {"id": "7"}},
    "resources/read": {"uri": "secret:///a"},
}


def asking(system: str, method: str) -> tuple[dict[str, Any], str]:
    params = dict(ASKING[method])
    if method == "prompts/get" and system == "lowlevel":
        params["name"] = "ask"
    return params, params.get("name") or params["uri"]


@SYSTEMS
async def test_a_state_under_its_name_in_python_is_refused(system: str) -> None:
    """FastMCP's models took `request_state` for it, and the boundary had not opened that."""
    async with served(system) as of:
        for method in ASKING:
            of.refusals.clear()
            params, name = asking(system, method)
            asked = await wire.raw(of.url, method, params, name=name)
            sealed = asked["result"]["requestState"]
            of.shop.ran.clear()
            for sent in (
                {"request_state": FORGED},
                {"request_state": FORGED, "requestState": None},
                {"request_state": FORGED, "requestState": sealed},
                {"request_state": {"v": 1}},
                {"request_state": sealed},
            ):
                told = await wire.raw(of.url, method, {**params, **sent}, name=name)
                assert told["error"] == RequestState.refusal["error"]
            assert of.codes == ["malformed"] * 5
            assert of.shop.ran == []
            told = await wire.raw(of.url, method, {**params, "requestState": sealed}, name=name)
            assert '\\"asked\\": 7' in json.dumps(told["result"])
            # Nothing, by either name, is nothing: so a client writes what it has not.
            nothing = {"request_state": None, "requestState": None, "meta": None}
            told = await wire.raw(of.url, method, {**params, **nothing}, name=name)
            assert told["result"]["resultType"] == "input_required"


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
        return types.InputRequiredResult(request_state=guard.state(ctx, "mine"))

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


SPELLINGS = ["RequestState", "requeststate", "request-state", "requestState ", "_requestState"]


@SYSTEMS
async def test_no_other_spelling_is_a_state(system: str) -> None:
    async with served(system) as of:
        for spelling in SPELLINGS:
            for more in ({}, {"_meta": {spelling: FORGED, "requestState": FORGED}}):
                sent = {**ASKING["tools/call"], spelling: FORGED, **more}
                told = await wire.raw(of.url, "tools/call", sent, name="ask")
                assert told["result"]["resultType"] == "input_required"


@SYSTEMS
async def test_of_a_member_sent_twice_the_boundary_sees_what_the_handler_does(system: str) -> None:
    async with served(system) as of:
        sealed = await RequestState().good(of.client)
        first, last = json.dumps(FORGED), json.dumps(sealed)
        envelope = json.dumps(
            {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        )
        headers = {
            "Authorization": f"Bearer {wire.bearer('alice')}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "ask",
        }
        told = []
        for one, other in ((first, last), (last, first)):
            body = (
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask",'
                f'"arguments":{{"id":7}},"requestState":{one},"_meta":{envelope},'
                f'"requestState":{other}}}}}'
            )
            async with wire.http(headers=headers) as http:
                told.append(wire.told((await http.post(of.url, content=body)).text))
        assert told[0]["result"]["structuredContent"]["state"] == {"asked": 7, "pad": ""}
        assert told[1]["error"] == RequestState.refusal["error"]


@pytest.mark.parametrize("system", tally.SYSTEMS)
async def test_a_session_under_its_name_in_python_is_refused(system: str) -> None:
    async with served_with_sessions(system, guard={"ledger": memory()}) as of:
        session = await created(of.client)
        of.of.ran.clear()
        asked: dict[str, dict[str, Any]] = {
            "tools/call": {"name": "peek", "arguments": {}},
            "tools/list": {},
            "sessions/delete": {},
        }
        for revision, (method, params) in product(REVISIONS, asked.items()):
            sent = {**params, "meta": meta(session)}
            told = await wire.raw(of.url, method, sent, revision=revision, name=params.get("name"))
            assert told["error"] == sealwax.answer("data-layer")["error"], method
        assert of.of.ran == []
        assert of.codes == ["malformed"] * 6


async def test_without_a_guard_fastmcp_takes_a_state_that_nobody_opened() -> None:
    """A fault of FastMCP: if this fails it is mended, and the README need not warn of it."""
    security = RequestStateSecurity(keys=["a key of a server without a guard"])
    server: FastMCP[Any] = FastMCP("s", request_state_security=security)

    async def ask(ctx: FastContext) -> str:
        return f"state: {ctx.request_state}"

    server.tool(ask)
    forged = {"name": "ask", "arguments": {}, "request_state": "forged"}
    with wire.listening(server.http_app(stateless_http=True)) as url:
        told = await wire.raw(url, "tools/call", forged, name="ask")
    assert told["result"]["content"][0]["text"] == "state: forged"


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("system", tally.SYSTEMS)
async def test_metadata_of_a_session_that_nobody_should_send_is_refused_like_any_other(
    system: str,
) -> None:
    async with served_with_sessions(system) as of:
        good = await created(of.client)
        of.of.ran.clear()
        bad = [
            {**good, "state": nested(200)},
            {**good, "state": "\ud800"},
            {**good, "sessionId": "\ud800"},
            {**good, "state": float("nan")},
            {"sessionId": nested(200), "state": nested(200)},
            {nested.__name__: nested(200)},
            nested(200),
            True,
        ]
        for metadata in bad:
            params = {"name": "peek", "arguments": {}, "_meta": meta(metadata)}
            told = await wire.raw(of.url, "tools/call", params, name="peek")
            assert told["error"]["code"] == -32043
            assert told["error"]["message"] == sealwax.answer("data-layer")["error"]["message"]
        assert of.codes == ["malformed"] * len(bad)
        assert of.of.ran == []
        # What else it holds is not looked at.
        more = {**good, "expiresAt": nested(200), "\ud800": nested(200)}
        params = {"name": "peek", "arguments": {}, "_meta": meta(more)}
        told = await wire.raw(of.url, "tools/call", params, name="peek")
        assert told["result"]["structuredContent"]["was"] == {"count": 0}


@pytest.mark.parametrize("system", tally.SYSTEMS)
async def test_a_method_of_the_authors_own_may_have_such_a_member(system: str) -> None:
    guard = Guard(codec=tally.codec(KEYS), principal=principal_from_access_token)
    sessions = guard.sessions(initial=lambda _ctx: 7)
    seen: list[Any] = []

    async def own(ctx: Any, _params: Any) -> dict[str, Any]:
        seen.append(sessions.of(ctx))
        return {}

    async def it(_ctx: Any) -> None:
        """Nothing to do."""

    app = wire.app(system, None, where=Lone(guard, it, {"example/own": own}))
    session = view(tally.codec(KEYS), wire.principal("alice")).sessions().create(b"7")
    with wire.listening(app) as url:
        told = await wire.raw(url, "example/own", {"meta": meta(session)})
    assert "error" not in told
    assert seen == [None]


@ALONE
async def test_a_method_that_carries_no_state_has_none(system: str) -> None:
    """There, a client's state is not opened, and a written one would not be sealed."""
    guard = Guard(codec=shop.codec(KEYS), principal=principal_from_access_token)
    said: list[str] = []

    async def own(ctx: Any, _params: Any) -> dict[str, Any]:
        for use in (guard.opened, lambda ctx: guard.state(ctx, {"balance": 7})):
            with pytest.raises(sealwax.InvalidArgument) as raised:
                use(ctx)
            said.append(str(raised.value))
        return {}

    async def it(_ctx: Any) -> None:
        """Nothing to do."""

    app = wire.app(system, None, where=Lone(guard, it, {"example/own": own}))
    with wire.listening(app) as url:
        sents: list[Any] = [{}, {"requestState": FORGED}, {"request_state": FORGED}]
        for revision, sent in product(REVISIONS, sents):
            told = await wire.raw(url, "example/own", sent, revision=revision)
            assert "error" not in told
    assert len(said) == 12
    assert all("expected a request that carries a requestState" in one for one in said)


@ALONE
async def test_a_list_has_no_state(system: str) -> None:
    guard = Guard(codec=shop.codec(KEYS), principal=principal_from_access_token)
    said: list[str] = []

    async def listed(ctx: Any) -> None:
        with pytest.raises(sealwax.InvalidArgument) as raised:
            guard.opened(ctx)
        said.append(str(raised.value))

    async def it(_ctx: Any) -> None:
        """Nothing to do."""

    class Listing(Lone):
        def mcpserver(self, _of: Any, **options: Any) -> Any:
            async def seen(ctx: Any, call_next: Any) -> Any:
                if ctx.method == "tools/list":
                    await listed(ctx)
                return await call_next(ctx)

            return super().mcpserver(_of, middleware=[seen], **options)

        def fastmcp(self, _of: Any, **options: Any) -> Any:
            class Seeing(Middleware):
                async def on_list_tools(self, context: Any, call_next: Any) -> Any:
                    await listed(context.fastmcp_context)
                    return await call_next(context)

            return super().fastmcp(_of, middleware=[Seeing()], **options)

        def lowlevel(self, _of: Any, **options: Any) -> Any:
            async def tools(ctx: Any, _params: Any) -> types.ListToolsResult:
                await listed(ctx)
                return types.ListToolsResult(tools=[])

            server = super().lowlevel(_of, **options)
            server.add_request_handler("tools/list", types.PaginatedRequestParams, tools)
            return server

    with wire.listening(wire.app(system, None, where=Listing(guard, it))) as url:
        for sent in ({}, {"requestState": FORGED}, {"request_state": FORGED}):
            assert "error" not in await wire.raw(url, "tools/list", sent)
    assert len(said) == 3
    assert all("expected a request that carries a requestState" in one for one in said)


@pytest.mark.parametrize("system", tally.SYSTEMS)
async def test_a_tool_whose_name_is_no_text_is_no_failure_of_the_server(
    system: str,
) -> None:
    async with served_with_sessions(system, "2025-11-25") as of:
        names: list[Any] = [["count"], {"count": 1}, 7, None, "no such tool"]
        for name in names:
            sent = {"name": name, "arguments": {}}
            told = await wire.raw(of.url, "tools/call", sent, revision="2025-11-25")
            if isinstance(name, str):
                # What each SDK says of it, each in its own way.
                assert "Unknown tool" in json.dumps(told) or "structuredContent" in told["result"]
            else:
                assert told["error"]["code"] == types.INVALID_PARAMS
                assert "unhashable" not in json.dumps(told)


async def test_a_principal_that_is_a_text_is_refused_and_says_what_to_do() -> None:
    """Else a function that returns a user's name would make one user anonymous."""
    for name in ("anonymous", "alice"):

        async def principal(_ctx: Any, name: str = name) -> Any:
            return name

        async with served(principal=principal) as of:
            assert await RequestState().present(of.client, None) == RequestState.internal
            assert 'principal="anonymous" in place of a function' in of.refusals[0].message
            assert of.shop.ran == []


@pytest.mark.parametrize("system", tally.SYSTEMS)
async def test_a_notification_with_a_session_under_its_name_in_python_is_dropped(
    system: str,
) -> None:
    guard = Guard(codec=tally.codec(KEYS), principal=principal_from_access_token)
    guard.sessions(initial=lambda _ctx: 0)
    refusals: list[Refusal] = []
    guard.on_refused = refusals.append

    async def it(_ctx: Any) -> None:
        """Nothing to do."""

    app = wire.app(system, None, where=Lone(guard, it))
    with wire.listening(app) as url:
        sent = {"meta": {SESSION_META_KEY: {"sessionId": "x"}}}
        note = "notifications/roots/list_changed"
        await wire.raw(url, note, sent, revision="2025-11-25", identity=None)
        with anyio.fail_after(60):
            while not refusals:
                await anyio.sleep(0.01)
    assert [(one.kind, one.code) for one in refusals] == [("session", "malformed")]

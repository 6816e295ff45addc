"""Attacks on the guard, over HTTP as a client can make them, on every kind of server."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import threading
import weakref
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import mcp_types as types
import pytest
import shop
import tally
import wire
from carriers import RequestState, view
from fastmcp.server.middleware import Middleware
from lone import SYSTEMS as LONE
from lone import Lone
from remembering import Remembering
from test_data_layer import call, carried, created, meta
from test_data_layer import served as served_with_sessions
from test_guard import KEYS, SYSTEMS, served

import sealwax
from sealwax.mcp import SESSION_META_KEY, Guard, principal_from_access_token

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from mcp import Client

    from sealwax.mcp import Refusal, Session

pytestmark = pytest.mark.anyio
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
@pytest.mark.parametrize("method", ASKING)
async def test_a_state_under_its_name_in_python_is_refused(system: str, method: str) -> None:
    """FastMCP's models took `request_state` for it, and the boundary had not opened that."""
    async with served(system) as of:
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
                seen.append(guard.read_state(context.fastmcp_context))
            except sealwax.InvalidArgument as error:
                seen.append(type(error))
            return await call_next(context)

    async def it(ctx: Any) -> Any:
        if guard.read_state(ctx) is not None:
            return {}
        return types.InputRequiredResult(request_state=guard.write_state(ctx, "mine"))

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


@SYSTEMS
@pytest.mark.parametrize(
    "spelling", ["RequestState", "requeststate", "request-state", "requestState ", "_requestState"]
)
async def test_no_other_spelling_is_a_state(system: str, spelling: str) -> None:
    async with served(system) as of:
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
            async with httpx2.AsyncClient(headers=headers) as http:
                told.append(wire.told((await http.post(of.url, content=body)).text))
        assert told[0]["result"]["structuredContent"]["state"] == {"asked": 7, "pad": ""}
        assert told[1]["error"] == RequestState.refusal["error"]


@pytest.mark.parametrize("system", tally.SYSTEMS)
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_session_under_its_name_in_python_is_refused(system: str, revision: str) -> None:
    async with served_with_sessions(system, revision, guard={"accept": Remembering()}) as of:
        session = await created(of.client)
        of.of.ran.clear()
        asked: dict[str, dict[str, Any]] = {
            "tools/call": {"name": "peek", "arguments": {}},
            "tools/list": {},
            "sessions/delete": {},
        }
        for method, params in asked.items():
            sent = {**params, "meta": meta(session)}
            told = await wire.raw(of.url, method, sent, revision=revision, name=params.get("name"))
            assert told["error"] == sealwax.answer("data-layer")["error"], method
        assert of.of.ran == []
        assert of.codes == ["malformed"] * 3


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
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_method_that_carries_no_state_has_none(system: str, revision: str) -> None:
    """What a client sent there is not opened, and what is written would not be sealed."""
    guard = Guard(codec=shop.codec(KEYS), principal=principal_from_access_token)
    said: list[str] = []

    async def own(ctx: Any, _params: Any) -> dict[str, Any]:
        for use in (guard.read_state, lambda ctx: guard.write_state(ctx, {"balance": 7})):
            with pytest.raises(sealwax.InvalidArgument) as raised:
                use(ctx)
            said.append(str(raised.value))
        return {}

    async def it(_ctx: Any) -> None:
        """Nothing to do."""

    app = wire.app(system, None, where=Lone(guard, it, {"example/own": own}))
    with wire.listening(app) as url:
        for sent in ({}, {"requestState": FORGED}, {"request_state": FORGED}):
            told = await wire.raw(url, "example/own", sent, revision=revision)
            assert "error" not in told
    assert len(said) == 6
    assert all("expected a request that carries a requestState" in one for one in said)


@ALONE
async def test_a_list_has_no_state(system: str) -> None:
    guard = Guard(codec=shop.codec(KEYS), principal=principal_from_access_token)
    said: list[str] = []

    async def listed(ctx: Any) -> None:
        with pytest.raises(sealwax.InvalidArgument) as raised:
            guard.read_state(ctx)
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
@pytest.mark.parametrize("name", [["count"], {"count": 1}, 7, None, "no such tool"])
async def test_a_tool_whose_name_is_no_text_is_no_failure_of_the_server(
    system: str, name: Any
) -> None:
    async with served_with_sessions(system, "2025-11-25") as of:
        sent = {"name": name, "arguments": {}}
        told = await wire.raw(of.url, "tools/call", sent, revision="2025-11-25")
        if isinstance(name, str):
            # What each SDK says of it, each in its own way.
            assert "Unknown tool" in json.dumps(told) or "structuredContent" in told["result"]
        else:
            assert told["error"]["code"] == types.INVALID_PARAMS
            assert "unhashable" not in json.dumps(told)


@SYSTEMS
async def test_arguments_are_no_part_of_reading_a_resource(system: str) -> None:
    uri = "secret:///a"
    async with served(system, only={uri: ["id"]}) as of:
        asked = await wire.raw(
            of.url, "resources/read", {"uri": uri, "arguments": {"id": 7}}, name=uri
        )
        state = {"requestState": asked["result"]["requestState"]}
        told = await wire.raw(of.url, "resources/read", {"uri": uri, **state}, name=uri)
        assert '\\"asked\\": 7' in json.dumps(told["result"])
        context = sealwax.request_context("resources/read", uri)
        alice = view(shop.codec(KEYS), wire.principal("alice"))
        replica = {"requestState": alice.request_state(context).seal(FORGED.encode())}
        for arguments in ({"id": 8}, "none", None, [1]):
            sent = {"uri": uri, "arguments": arguments, **replica}
            told = await wire.raw(of.url, "resources/read", sent, name=uri)
            assert '\\"asked\\": 7' in json.dumps(told["result"])


NASTY = "x\n\x1b[31mred\r\u2028\u00e9" + "A" * 300


@pytest.mark.parametrize("system", tally.SYSTEMS)
async def test_no_log_holds_what_a_client_sent_raw(
    system: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "sealwax.mcp")
    async with served_with_sessions(system, "2025-11-25") as of:
        session = await created(of.client)
        for method, params in [
            (NASTY, {"_meta": meta({"sessionId": NASTY, "state": NASTY})}),
            ("tools/call", {"name": NASTY, "requestState": NASTY}),
            ("tools/call", {"name": "peek", "arguments": {NASTY: 2**60}, "requestState": NASTY}),
            ("tools/call", {"name": "peek", "request_state": NASTY}),
            ("prompts/get", {"name": {NASTY: 1}, "requestState": NASTY}),
            ("resources/read", {"uri": NASTY, "requestState": NASTY}),
            ("resources/read", {"uri": [NASTY], "requestState": "sw1." + NASTY}),
            ("tools/list", {"cursor": NASTY}),
            ("tools/list", {"cursor": {NASTY: 1}}),
            ("tools/list", {"_meta": meta({NASTY: 1, "sessionId": NASTY})}),
            ("tools/list", {"_meta": meta({**session, "state": {NASTY: NASTY}})}),
            ("tools/list", {"_meta": meta({**session, "state": NASTY})}),
            ("tools/list", {"_meta": meta(NASTY)}),
            ("sessions/create", {"_meta": meta(NASTY)}),
            ("sessions/delete", {"_meta": meta({"sessionId": NASTY})}),
            ("sessions/delete", {"meta": NASTY}),
        ]:
            told = await wire.raw(of.url, method, params, revision="2025-11-25", identity=7)
            assert "error" in told
        ours = [one.getMessage() for one in caplog.records if one.name == "sealwax.mcp"]
        assert len(ours) == len(of.refusals) >= 13
        for said in [*ours, *(refusal.message for refusal in of.refusals)]:
            assert said.isascii()
            assert said.isprintable()
            assert len(said) < 200


@ALONE
async def test_no_log_holds_a_handle_raw(system: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "sealwax.mcp")
    refusals: list[Refusal] = []
    guard = Guard(
        codec=shop.codec(KEYS),
        principal=principal_from_access_token,
        on_refused=refusals.append,
    )
    rows, held = guard.handles("basket"), guard.held_handles("order")
    handles = [NASTY, f"basket_{NASTY}", f"{NASTY}_7", "\ud800", "A" * 9_000, {NASTY: 1}, None]

    async def it(ctx: Any) -> Any:
        for handle in handles:
            for use in (rows.check, rows.end, held.open, held.end):
                with pytest.raises(sealwax.mcp.HandleRefused):
                    await use(ctx, handle)  # type: ignore[arg-type]
        return {}

    with wire.listening(wire.app(system, None, where=Lone(guard, it))) as url:
        async with wire.over_http(url, "alice") as client:
            assert not (await client.call_tool("it", {})).is_error
    ours = [one.getMessage() for one in caplog.records if one.name == "sealwax.mcp"]
    assert len(ours) == len(refusals) == 4 * len(handles)
    for said in [*ours, *(refusal.message for refusal in refusals)]:
        assert said.isascii()
        assert said.isprintable()
        assert len(said) < 200


async def test_a_principal_that_is_a_text_is_refused_and_says_what_to_do() -> None:
    """Else a function that returns a user's name would make one user anonymous."""
    for name in ("anonymous", "alice"):

        async def principal(_ctx: Any, name: str = name) -> Any:
            return name

        async with served(principal=principal) as of:
            assert await RequestState().present(of.client, None) == RequestState.internal
            assert 'principal="anonymous" in place of a function' in of.refusals[0].message
            assert of.shop.ran == []


class Waiting:
    """A tool that waits until it is cancelled, and what it leaves behind."""

    def __init__(self) -> None:
        self.began, self.left, self.told = (threading.Event() for _ in range(3))
        self.session: weakref.ref[Session] | None = None
        self.errors: list[BaseException] = []


async def until(event: threading.Event) -> None:
    with anyio.fail_after(60):
        while not event.is_set():
            await anyio.sleep(0.01)


def cancelling(revision: str, url: str) -> AbstractAsyncContextManager[Client]:
    mode = "legacy" if revision == "2025-11-25" else revision
    return wire.over_http(url, "alice", mode=mode)


@ALONE
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_cancelled_request_lets_go_of_its_session(system: str, revision: str) -> None:
    guard = Guard(codec=tally.codec(KEYS), principal=principal_from_access_token)
    sessions, seen = guard.sessions(initial=lambda _ctx: 0), Waiting()

    async def it(ctx: Any) -> Any:
        session = sessions.of(ctx)
        assert session is not None
        session.write(session.value + 1)
        seen.session = weakref.ref(session)
        seen.began.set()
        try:
            await anyio.sleep_forever()
        finally:
            seen.left.set()

    app = wire.app(system, None, where=Lone(guard, it), stateless=False)
    with wire.listening(app) as url:
        async with cancelling(revision, url) as client:
            session = await created(client)
            async with anyio.create_task_group() as group:
                group.start_soon(call, client, "it", session)
                await until(seen.began)
                group.cancel_scope.cancel()
            await until(seen.left)
            assert seen.session is not None
            with anyio.fail_after(60):
                while seen.session() is not None:
                    gc.collect()
                    await anyio.sleep(0.01)


@ALONE
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("cancelled", [True, False])
async def test_what_is_written_after_the_answer_raises(
    system: str, revision: str, cancelled: bool
) -> None:
    """What a tool leaves running has the context of its request, and no request any more."""
    guard = Guard(codec=tally.codec(KEYS), principal=principal_from_access_token)
    sessions, seen, later = guard.sessions(initial=lambda _ctx: 0), Waiting(), threading.Event()
    held, tasks = guard.held_handles("order"), []

    async def after(ctx: Any, session: Session) -> None:
        await until(later)
        uses: list[Any] = [
            lambda: session.write(7),
            session.fork,
            lambda: sessions.of(ctx),
            lambda: guard.read_state(ctx),
            lambda: guard.write_state(ctx, 7),
        ]
        for use in uses:
            try:
                use()
            except sealwax.InvalidArgument as error:
                seen.errors.append(error)
        try:
            await held.seal(ctx, 7)
        except sealwax.InvalidArgument as error:
            seen.errors.append(error)
        seen.told.set()

    async def it(ctx: Any) -> Any:
        session = sessions.of(ctx)
        assert session is not None
        tasks.append(asyncio.create_task(after(ctx, session)))
        seen.began.set()
        if cancelled:
            try:
                await anyio.sleep_forever()
            finally:
                seen.left.set()
        return {"value": session.value}

    app = wire.app(system, None, where=Lone(guard, it), stateless=False)
    with wire.listening(app) as url:
        async with cancelling(revision, url) as client:
            session = await created(client)
            if cancelled:
                async with anyio.create_task_group() as group:
                    group.start_soon(call, client, "it", session)
                    await until(seen.began)
                    group.cancel_scope.cancel()
                await until(seen.left)
                # One more, so that what was cancelled is done with.
                await client.list_tools()
            else:
                told = await call(client, "it", session)
                assert carried(told) == {"sessionId": session["sessionId"]}
            later.set()
            await until(seen.told)
    assert len(seen.errors) == 6
    assert all("answered or cancelled" in str(error) for error in seen.errors)


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

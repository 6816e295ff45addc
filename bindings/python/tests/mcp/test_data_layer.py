"""Data-layer sessions: every SDK, both revisions, both transports, by official clients."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import anyio
import mcp_types as types
import pytest
import tally
import wire
from carriers import outcome, view
from lone import Lone
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from remembering import Remembering

import sealwax
from sealwax.mcp import (
    SESSION_META_KEY,
    Guard,
    Presented,
    Refusal,
    principal_from_access_token,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import Client

pytestmark = pytest.mark.anyio
KEYS, RETIRED = (str(sealwax.Key.generate().to_text()) for _ in range(2))
MODES = {"2026-07-28": "2026-07-28", "2025-11-25": "legacy"}
SYSTEMS = pytest.mark.parametrize("system", tally.SYSTEMS)
REVISIONS = pytest.mark.parametrize("revision", MODES)
REQUIRED = sealwax.answer("data-layer-required")
INTERNAL = sealwax.answer("data-layer", sealwax.InternalError())


class Asked(types.Request[types.RequestParams, Any]):
    """A request of any method."""

    method: str
    params: types.RequestParams


class Noted(types.Notification[types.NotificationParams, Any]):
    """A notification of any method."""

    method: str
    params: types.NotificationParams


def meta(session: Any) -> Any:
    return {SESSION_META_KEY: session}


class Raw(types.Result):
    """A result with all that was sent."""

    model_config = types.Result.model_config | {"extra": "allow"}


async def ask(client: Client, method: str, session: Any = None, **params: Any) -> dict[str, Any]:
    carried = {} if session is None else {"_meta": meta(session)}
    request: Any = Asked(method=method, params=types.RequestParams.model_validate(carried))
    if params:
        request = types.CallToolRequest(
            params=types.CallToolRequestParams.model_validate({**params, **carried})
        )
    return await outcome(client.session.send_request(request, Raw))


async def call(client: Client, tool: str, session: Any = None, **arguments: Any) -> dict[str, Any]:
    return await ask(client, "tools/call", session, name=tool, arguments=arguments)


async def created(client: Client) -> dict[str, Any]:
    session: dict[str, Any] = (await ask(client, "sessions/create"))["session"]
    assert set(session) == {"sessionId", "expiresAt", "state"}
    return session


def carried(told: dict[str, Any]) -> dict[str, Any]:
    session: dict[str, Any] = told["_meta"][SESSION_META_KEY]
    return session


class Served:
    def __init__(self, url: str, of: tally.Tally, refusals: list[Refusal], client: Client) -> None:
        self.url, self.of, self.refusals, self.client = url, of, refusals, client

    @property
    def codes(self) -> list[str]:
        return [refusal.code for refusal in self.refusals]


@asynccontextmanager
async def served(
    system: str = "mcpserver",
    revision: str = "2026-07-28",
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
    of = tally.Tally(Guard(**{**defaults, **(guard or {})}), **options)
    with wire.listening(wire.app(system, of, where=tally)) as url:
        async with wire.over_http(url, "alice", mode=MODES[revision]) as client:
            yield Served(url, of, refusals, client)


async def visit(client: Client, system: str) -> None:
    """Do what a session is for."""
    first = await created(client)
    told = await call(client, "count", first)
    assert told["structuredContent"]["was"] == {"count": 0}
    assert told["_meta"]["example.com/kept"] is True
    second = carried(told)
    assert second["sessionId"] == first["sessionId"]
    assert second["state"] != first["state"]
    told = await call(client, "count", second)
    assert told["structuredContent"] == {
        "ulid": told["structuredContent"]["ulid"],
        "generation": 1,
        "was": {"count": 1},
        "value": {"count": 2},
    }
    third = carried(told)
    told = await call(client, "peek", third)
    assert carried(told) == {"sessionId": first["sessionId"]}
    assert told["structuredContent"]["value"] == {"count": 2}
    # A JSON-RPC error discards what was written, and says nothing of a session. (What a tool of
    # FastMCP raises is never one.)
    if system != "fastmcp":
        spoilt = {"error": {"code": -32000, "message": "spoilt"}}
        assert await call(client, "spoil", third) == spoilt
    # A tool's own error keeps it.
    told = await call(client, "sulk", third)
    assert told["isError"] is True
    fourth = carried(told)
    assert (await call(client, "peek", fourth))["structuredContent"]["was"] == {"count": 3}
    # Another conversation goes on beside it, and one that forks it begins where it is.
    other = await created(client)
    fork = (await call(client, "fork", fourth))["structuredContent"]["session"]
    assert fork["sessionId"] != fourth["sessionId"]
    for session, count in ((other, 0), (fork, 3), (fourth, 3)):
        assert (await call(client, "peek", session))["structuredContent"]["was"]["count"] == count
    # Every method answers for a session; lists do not depend on one.
    lists = [await ask(client, "tools/list", session) for session in (None, other, fourth)]
    assert carried(lists[1]) == {"sessionId": other["sessionId"]}
    for one in lists:
        one.get("_meta", {}).pop(SESSION_META_KEY, None)
    if not lists[0].get("_meta"):
        lists = [{**one, "_meta": one.get("_meta")} | {"_meta": None} for one in lists]
    assert lists[0] == lists[1] == lists[2]
    assert await call(client, "count") == REQUIRED
    assert (await call(client, "peek"))["structuredContent"] == {"session": None}
    refused = await ask(client, "sessions/create", fourth)
    assert refused["error"]["code"] == types.INVALID_PARAMS
    assert await ask(client, "sessions/delete") == REQUIRED
    alone = {"sessionId": other["sessionId"]}
    assert "error" not in await ask(client, "sessions/delete", alone)
    assert await call(client, "peek", other) == sealwax.answer(
        "data-layer", session_id=other["sessionId"]
    )


def altered(text: str) -> str:
    middle = len(text) // 2
    return text[:middle] + ("a" if text[middle] != "a" else "b") + text[middle + 1 :]


CODES = {
    "another user's": {"principal_mismatch"},
    "another session's state": {"unauthentic"},
    "an altered id": {"unauthentic"},
    "an altered state": {"unauthentic"},
    "of a retired key": {"unknown_key"},
    "too large": {"too_large"},
    "idle": {"expired"},
    "no state": {"malformed"},
    "no id": {"malformed"},
    "a number": {"malformed"},
    "nothing": {"malformed"},
    "ended": {"not_accepted"},
}


async def judge(client: Client, mallory: Client) -> tuple[list[str], list[dict[str, Any]]]:
    """Present all that is not good to every method; return the order and the answers."""
    alice = view(tally.codec(KEYS), wire.principal("alice"))
    retired = view(tally.codec(RETIRED), wire.principal("alice"))
    idle = alice.sessions(ttl=1).create(b'{"count":0}')
    good, other = await created(client), await created(client)
    ended = await created(client)
    assert "error" not in await ask(client, "sessions/delete", ended)
    await anyio.sleep(1.1)
    bad: dict[str, Any] = {
        "another user's": await created(mallory),
        "another session's state": {**good, "state": other["state"]},
        "an altered id": {**good, "sessionId": altered(good["sessionId"])},
        "an altered state": {**good, "state": altered(good["state"])},
        "of a retired key": retired.sessions().create(b'{"count":0}'),
        "too large": {**good, "state": good["state"] + "A" * 20_000},
        "idle": idle,
        "no state": {"sessionId": good["sessionId"]},
        "no id": {"state": good["state"]},
        "a number": 7,
        "nothing": {},
        "ended": ended,
    }
    order, answers = [], []
    for name, session in bad.items():
        # Lists and methods that need no session refuse it too.
        for asked in (
            call(client, "count", session),
            call(client, "peek", session),
            ask(client, "tools/list", session),
        ):
            order.append(name)
            answers.append(await asked)
            sent = session.get("sessionId") if isinstance(session, dict) else None
            assert answers[-1] == sealwax.answer("data-layer", session_id=sent), name
    assert (await call(client, "count", good))["structuredContent"]["value"] == {"count": 1}
    # What a replica made is as good.
    replica = alice.sessions().create(b'{"count":41}')
    assert (await call(client, "count", replica))["structuredContent"]["value"] == {"count": 42}
    return order, answers


def without_id(answer: dict[str, Any]) -> str:
    answer["error"].get("data", {}).pop("sessionId", None)
    if not answer["error"].get("data"):
        answer["error"].pop("data", None)
    return json.dumps(answer)


@REVISIONS
@SYSTEMS
async def test_sessions_over_http(system: str, revision: str) -> None:
    async with served(system, revision, guard={"accept": Remembering()}) as of:
        await visit(of.client, system)
        # A list is made without a session, whoever asks.
        assert {one for one in of.of.ran if one.startswith("list")} <= {"list None"}
        of.refusals.clear()
        of.of.ran.clear()
        async with wire.over_http(of.url, "mallory", mode=MODES[revision]) as mallory:
            order, answers = await judge(of.client, mallory)
        assert len({without_id(answer) for answer in answers}) == 1
        assert [refusal.kind for refusal in of.refusals] == ["session"] * len(order)
        for name, refusal in zip(order, of.refusals, strict=True):
            assert refusal.code in CODES[name], (name, refusal)
            assert refusal.principal == wire.principal("alice")
        assert [one for one in of.of.ran if "list" not in one] == ["count", "count"]


@REVISIONS
@SYSTEMS
async def test_sessions_over_stdio(system: str, revision: str) -> None:
    def user(name: str) -> Any:
        return wire.over_stdio(system, KEYS, name, program="tally.py", mode=MODES[revision])

    async with user("alice") as alice, user("mallory") as mallory:
        await visit(alice, system)
        _, answers = await judge(alice, mallory)
        assert len({without_id(answer) for answer in answers}) == 1


@REVISIONS
@SYSTEMS
async def test_the_server_says_that_it_has_sessions(system: str, revision: str) -> None:
    async with served(system, revision) as of:
        method = "server/discover" if revision == "2026-07-28" else "initialize"
        params: dict[str, Any] = {}
        if method == "initialize":
            told = of.client.session.server_capabilities
            assert told is not None
            assert (told.experimental or {})["sessions"] == {}
            info = {"name": "raw", "version": "0"}
            params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}
        answer = await wire.raw(of.url, method, params, revision=revision)
        capabilities = answer["result"]["capabilities"]
        assert capabilities["sessions"] == {}
        assert capabilities["experimental"]["sessions"] == {}
        assert "tools" in capabilities


async def test_a_session_ends_by_its_absolute_limit() -> None:
    limited = {"codec": tally.codec(KEYS, session_max_age=2)}
    async with served(guard=limited) as of:
        session = await created(of.client)
        session = carried(await call(of.client, "count", session))
        await anyio.sleep(2.2)
        answer = await call(of.client, "count", session)
        assert answer == sealwax.answer("data-layer", session_id=session["sessionId"])
        assert of.codes == ["expired"]


async def test_a_session_is_renewed_when_half_of_its_life_is_over() -> None:
    async with served(ttl=4) as of:
        session = await created(of.client)
        assert set(carried(await call(of.client, "peek", session))) == {"sessionId"}
        await anyio.sleep(2.1)
        renewed = carried(await call(of.client, "peek", session))
        assert set(renewed) == {"sessionId", "state", "expiresAt"}
        await anyio.sleep(2.1)
        told = await call(of.client, "peek", renewed)
        assert told["structuredContent"]["was"] == {"count": 0}
        assert "error" in await call(of.client, "peek", session)


async def test_a_session_of_an_older_key_is_sealed_anew() -> None:
    old = view(tally.codec(RETIRED), wire.principal("alice")).sessions().create(b'{"count":4}')
    both = {"codec": tally.codec(f"{KEYS} {RETIRED}")}
    async with served(guard=both) as of:
        renewed = carried(await call(of.client, "peek", old))
        assert renewed["sessionId"] == old["sessionId"]
        assert sealwax.inspect(renewed["state"]).key_id == sealwax.KeyRing.parse(KEYS).ids[0]


@SYSTEMS
async def test_too_large_a_value_is_the_authors_mistake(system: str) -> None:
    async with served(system) as of:
        session = await created(of.client)
        assert await call(of.client, "fill", session, size=5_000) == INTERNAL
        assert of.codes == ["too_large"]
        # Nothing was half-done.
        assert (await call(of.client, "peek", session))["structuredContent"]["was"] == {"count": 0}


async def test_two_writers_at_once() -> None:
    async with served() as of:
        session = await created(of.client)
        told: list[dict[str, Any]] = []

        async def write() -> None:
            told.append(await call(of.client, "count", session))

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            group.start_soon(write)
        both = [carried(one) for one in told]
        assert both[0]["state"] != both[1]["state"]
        for one in both:
            after = (await call(of.client, "peek", one))["structuredContent"]
            assert (after["generation"], after["was"]) == (1, {"count": 1})


@pytest.mark.parametrize("required", [True, {"methods": ["tools/call", "example/x"]}])
async def test_what_needs_a_session(required: Any) -> None:
    async with served(required=required) as of:
        assert await call(of.client, "peek") == REQUIRED
        assert await ask(of.client, "example/x") == REQUIRED
        assert "error" not in await ask(of.client, "tools/list")
        assert "error" not in await ask(of.client, "server/discover")
        session = await created(of.client)
        assert (await call(of.client, "peek", session))["structuredContent"]["was"] == {"count": 0}
        assert [(one.kind, one.code) for one in of.refusals] == [("session", "malformed")] * 2


@pytest.mark.parametrize(
    "options",
    [
        {"required": {"methods": ["tools/list"]}},
        {"required": {"method": ["tools/call"]}},
        {"required": {"tools": "count"}},
        {"required": ["tools/call"]},
        {"initial": None},
        {"held_by_server": True},
        {"ttl": 0},
    ],
)
def test_a_mistake_of_the_author_is_told_at_once(options: Any) -> None:
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    with pytest.raises(sealwax.InvalidArgument, match="expected"):
        tally.Tally(guard, **options)


def test_sessions_are_asked_for_once_and_before_the_server_is_protected() -> None:
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    tally.Tally(guard)
    with pytest.raises(sealwax.InvalidArgument, match="once"):
        tally.Tally(guard)
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    guard.protect(Server("tally"))
    with pytest.raises(sealwax.InvalidArgument, match="before"):
        tally.Tally(guard)


@SYSTEMS
async def test_a_session_whose_value_the_server_holds(system: str) -> None:
    options: Any = {"initial": None, "held_by_server": True}
    async with served(system, guard={"accept": Remembering()}, **options) as of:
        session = (await ask(of.client, "sessions/create"))["session"]
        assert set(session) == {"sessionId", "expiresAt"}
        told = await call(of.client, "peek", session)
        assert carried(told) == {"sessionId": session["sessionId"]}
        assert len(told["structuredContent"]["ulid"]) == 32
        assert told["structuredContent"]["was"] is None
        for tool in ("fork", "count"):
            # The author's mistake: there is nothing to write, and nothing that a fork begins with.
            told = await call(of.client, tool, session)
            assert "error" in told or told["isError"]
        other = (await ask(of.client, "sessions/create"))["session"]
        assert "error" not in await call(of.client, "peek", other)
        assert "error" not in await ask(of.client, "sessions/delete", session)
        for bad in (session, {"sessionId": altered(other["sessionId"])}):
            answer = await call(of.client, "peek", bad)
            assert answer == sealwax.answer("data-layer", session_id=bad["sessionId"])


@SYSTEMS
async def test_the_first_value_is_the_authors(system: str) -> None:
    async def initial(ctx: Any) -> Any:
        assert ctx.method == "sessions/create"
        return {"count": 40}

    async with served(system, initial=initial) as of:
        told = await call(of.client, "count", await created(of.client))
        assert told["structuredContent"]["value"] == {"count": 41}


@pytest.mark.parametrize("gives", ["an error", "no JSON", "too much"])
async def test_a_first_value_that_is_none(
    gives: Literal["an error", "no JSON", "too much"],
) -> None:
    def initial(_ctx: Any) -> Any:
        if gives == "an error":
            raise KeyError("what no client may hear")
        return object() if gives == "no JSON" else "x" * 5_000

    async with served(initial=initial) as of:
        assert await ask(of.client, "sessions/create") == INTERNAL
        assert of.codes == ["too_large" if gives == "too much" else "invalid_argument"]


async def test_what_accepts_is_asked_and_told() -> None:
    asked: list[Presented] = []
    told: list[Presented] = []
    answers: list[Any] = []

    class Accepting:
        async def accept(self, presented: Presented) -> bool:
            asked.append(presented)
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return bool(answer)

        async def ended(self, presented: Presented) -> None:
            told.append(presented)

    async with served(guard={"accept": Accepting()}) as of:
        session = await created(of.client)
        answers[:] = [True, False, ValueError("down"), True]
        ulid = (await call(of.client, "peek", session))["structuredContent"]["ulid"]
        refused = sealwax.answer("data-layer", session_id=session["sessionId"])
        assert await call(of.client, "peek", session) == refused
        # The server's own trouble does not make a client throw its session away.
        assert await call(of.client, "peek", session) == INTERNAL
        assert of.codes == ["not_accepted", "accept_unavailable"]
        assert [refusal.token_id for refusal in of.refusals] == [ulid, ulid]
        assert "error" not in await ask(of.client, "sessions/delete", session)
        assert told == [asked[0]]
        first = asked[0]
        assert (first.kind, first.id, first.principal) == ("session", ulid, wire.principal("alice"))
        identity = view(tally.codec(KEYS), wire.principal("alice")).sessions()
        ends = identity.verify(session["sessionId"]).ends_at_ms
        assert ends is not None
        assert first.expires_at is not None
        assert 0 <= (first.expires_at - 300) * 1000 - ends < 1000


async def test_what_is_refused_for_its_session_uses_up_no_request_state() -> None:
    guard = Guard(
        codec=tally.codec(KEYS), principal=principal_from_access_token, accept=Remembering()
    )
    guard.sessions(initial=lambda _ctx: {})

    class Asking:
        @staticmethod
        def mcpserver(_of: Any, **options: Any) -> Any:
            server: MCPServer[Any] = MCPServer("asking", **options)
            guard.protect(server)

            async def ask(ctx: Any) -> types.CallToolResult | types.InputRequiredResult:
                if guard.read_state(ctx) is None:
                    return types.InputRequiredResult(request_state=guard.write_state(ctx, "asked"))
                return types.CallToolResult(content=[])

            ask.__annotations__["ctx"] = Context
            server.tool()(ask)
            return server

    with wire.listening(wire.app("mcpserver", None, where=Asking)) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            session = await created(client)
            asked = await call(client, "ask", session)
            # A question carries its session as any other result.
            assert carried(asked) == {"sessionId": session["sessionId"]}
            again = {"name": "ask", "arguments": {}, "requestState": asked["requestState"]}
            bad = {**session, "state": altered(session["state"])}
            for sent, told in ((bad, "error"), (session, "content"), (session, "error")):
                assert told in await ask(client, "tools/call", sent, **again)


async def test_nobody_has_no_session() -> None:
    async def principal(_ctx: Any) -> Any:
        return None

    async with served(guard={"principal": principal}) as of:
        assert await ask(of.client, "sessions/create") == INTERNAL
        alice = view(tally.codec(KEYS), wire.principal("alice")).sessions().create(b"{}")
        assert await call(of.client, "peek", alice) == INTERNAL
        assert of.codes == ["invalid_argument", "invalid_argument"]


@SYSTEMS
async def test_a_notification_of_a_bad_session_is_dropped(system: str) -> None:
    seen: list[Any] = []
    refusals: list[Refusal] = []
    guard = Guard(
        codec=tally.codec(KEYS),
        principal=principal_from_access_token,
        on_refused=refusals.append,
    )
    of = tally.Tally(guard)
    served_by = tally.SYSTEMS[system]

    async def noted(ctx: Any, _params: Any) -> None:
        session = of.sessions.of(ctx)
        seen.append(session and session.ulid)
        if session is not None:
            with pytest.raises(sealwax.InvalidArgument, match="notification"):
                session.write(1)

    class Noting:
        mcpserver = staticmethod(served_by)
        lowlevel = staticmethod(served_by)
        fastmcp = staticmethod(served_by)

    def build(of: tally.Tally, **options: Any) -> Any:
        server = served_by(of, **options)
        low = getattr(server, "_lowlevel_server", getattr(server, "_mcp_server", server))
        low.add_notification_handler("example/noted", types.NotificationParams, noted)
        return server

    setattr(Noting, system, staticmethod(build))
    alice = view(tally.codec(KEYS), wire.principal("alice")).sessions()
    good, other = alice.create(b"{}"), alice.create(b"{}")
    bad = {**good, "state": other["state"]}
    with wire.listening(wire.app(system, of, where=Noting, stateless=False)) as url:
        async with wire.over_http(url, "alice", mode="legacy") as client:
            for session in (good, bad, None):
                params: Any = types.NotificationParams.model_validate(
                    {} if session is None else {"_meta": meta(session)}
                )
                note: Any = Noted(method="example/noted", params=params)
                await client.session.send_notification(note)
            with anyio.fail_after(5):
                while len(seen) < 2 or not refusals:
                    await anyio.sleep(0.01)
    assert sorted(map(str, seen)) == sorted([alice.verify(good["sessionId"]).ulid, "None"])
    assert [refusal.code for refusal in refusals] == ["unauthentic"]


async def test_what_a_session_shows_of_itself() -> None:
    """Neither its id nor its value stands in what a log would print."""
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    sessions, seen = guard.sessions(initial=lambda _ctx: "secret"), list[Any]()

    async def it(ctx: Any) -> dict[str, Any]:
        session = sessions.of(ctx)
        assert session is not None
        shown, before = [repr(session), str(session)], session.value
        session.write("another secret")
        fork = session.fork()
        seen.append((shown, session.id, session.ulid, before, session.value, fork))
        return {}

    core = tally.codec(KEYS).view(anonymous=True).sessions()
    metadata = core.create(b'"secret"')
    with wire.listening(wire.app("lowlevel", None, where=Lone(guard, it))) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            told = await call(client, "it", metadata)
    ((shown, identity, ulid, before, after, fork),) = seen
    assert (before, after, identity) == ("secret", "another secret", metadata["sessionId"])
    for one in shown:
        assert "secret" not in one
        assert identity not in one
        assert ulid in one
    assert core.open({**metadata, **carried(told)}).json() == "another secret"
    assert core.open(fork).json() == "another secret"
    assert fork["sessionId"] != identity

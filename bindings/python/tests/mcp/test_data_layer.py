"""Data-layer sessions: every SDK, both revisions, both transports, by official clients."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Literal

import anyio
import mcp_types as types
import pytest
import tally
import wire
from carriers import altered, view
from data_layer import (
    INTERNAL,
    KEYS,
    MODES,
    REQUIRED,
    RETIRED,
    REVISIONS,
    SYSTEMS,
    ask,
    call,
    carried,
    created,
    served,
)
from environment import at
from mcp.server.lowlevel import Server
from remembering import Remembering

import sealwax
from sealwax.mcp import (
    SESSION_META_KEY,
    Guard,
    Presented,
)

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.anyio


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


async def judge(client: Client) -> tuple[list[str], list[dict[str, Any]]]:
    """Present all that is not good to every method; return the order and the answers."""
    alice = view(tally.codec(KEYS), wire.principal("alice"))
    mallory = view(tally.codec(KEYS), wire.principal("mallory"))
    retired = view(tally.codec(RETIRED), wire.principal("alice"))
    with at((int(time.time()) - 60) * 1000):
        idle = alice.sessions(ttl=1).create(b'{"count":0}')
    good, other = await created(client), await created(client)
    ended = await created(client)
    assert "error" not in await ask(client, "sessions/delete", ended)
    bad: dict[str, Any] = {
        "another user's": mallory.sessions().create(b'{"count":0}'),
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
        # The handler of a list gets no session.
        assert {one for one in of.of.ran if one.startswith("list")} <= {"list None"}
        of.refusals.clear()
        of.of.ran.clear()
        order, answers = await judge(of.client)
        assert len({without_id(answer) for answer in answers}) == 1
        assert [refusal.kind for refusal in of.refusals] == ["session"] * len(order)
        for name, refusal in zip(order, of.refusals, strict=True):
            assert refusal.code in CODES[name], (name, refusal)
            assert refusal.principal == wire.principal("alice")
        assert [one for one in of.of.ran if "list" not in one] == ["count", "count"]


@pytest.mark.parametrize(
    ("system", "revision"),
    [*((system, "2026-07-28") for system in tally.SYSTEMS), ("lowlevel", "2025-11-25")],
)
async def test_sessions_over_stdio(system: str, revision: str) -> None:
    options: Any = {"program": "tally.py", "mode": MODES[revision]}
    async with wire.over_stdio(system, KEYS, "alice", **options) as alice:
        await visit(alice, system)
        _, answers = await judge(alice)
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
    limited = {"codec": tally.codec(KEYS, session_max_age=7200)}
    async with served(guard=limited) as of:
        session = await created(of.client)
        session = carried(await call(of.client, "count", session))
        alice = view(tally.codec(KEYS), wire.principal("alice"))
        with at((int(time.time()) - 7201) * 1000):
            old = alice.sessions().create(b'{"count":1}')
        old["state"] = alice.state(old["sessionId"]).seal(b'{"count":1}')
        assert "error" not in await call(of.client, "count", session)
        answer = await call(of.client, "count", old)
        assert answer == sealwax.answer("data-layer", session_id=old["sessionId"])
        assert of.codes == ["expired"]


async def test_a_session_lives_as_long_as_its_author_said() -> None:
    now = int(time.time())
    async with served(ttl=7_200) as of:
        with at(now * 1000):
            session = await created(of.client)
        alice = view(tally.codec(KEYS), wire.principal("alice")).sessions()
        assert alice.open(session).expires_at == now + 7_200
    async with served(no_expiry=True) as of:
        session = (await ask(of.client, "sessions/create"))["session"]
        assert alice.open(session).expires_at is None


async def test_too_large_a_value_is_the_authors_mistake() -> None:
    async with served() as of:
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


async def test_what_needs_a_session() -> None:
    async with served(required=True) as of:
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


async def test_a_session_whose_value_the_server_holds() -> None:
    options: Any = {"initial": None, "held_by_server": True}
    async with served(guard={"accept": Remembering()}, **options) as of:
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


async def test_the_first_value_is_the_authors() -> None:
    async def initial(ctx: Any) -> Any:
        assert ctx.method == "sessions/create"
        return {"count": 40}

    async with served(initial=initial) as of:
        told = await call(of.client, "count", await created(of.client))
        assert told["structuredContent"]["value"] == {"count": 41}


@pytest.mark.parametrize("gives", ["an error", "no JSON"])
async def test_a_first_value_that_is_none(
    gives: Literal["an error", "no JSON"],
) -> None:
    def initial(_ctx: Any) -> Any:
        if gives == "an error":
            raise KeyError("what no client may hear")
        return object()

    async with served(initial=initial) as of:
        assert await ask(of.client, "sessions/create") == INTERNAL
        assert of.codes == ["invalid_argument"]


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
        assert [refusal.id for refusal in of.refusals] == [ulid, ulid]
        assert "error" not in await ask(of.client, "sessions/delete", session)
        assert told == [asked[0]]
        first = asked[0]
        assert (first.kind, first.id, first.principal) == ("session", ulid, wire.principal("alice"))
        identity = view(tally.codec(KEYS), wire.principal("alice")).sessions()
        ends = identity.verify(session["sessionId"]).ends_at_ms
        assert ends is not None
        assert first.expires_at is not None
        assert 0 <= (first.expires_at - 300) * 1000 - ends < 1000

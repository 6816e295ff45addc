"""Data-layer sessions: every SDK, both revisions, both transports, by official clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import mcp_types as types
import pytest
import tally
import wire
from data_layer import (
    INTERNAL,
    KEYS,
    MODES,
    REQUIRED,
    REVISIONS,
    SYSTEMS,
    ask,
    call,
    carried,
    created,
    served,
)
from ledgers import memory
from mcp.server.lowlevel import Server

import sealwax
from sealwax.mcp import (
    SESSION_META_KEY,
    Guard,
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


@REVISIONS
@SYSTEMS
async def test_sessions_over_http(system: str, revision: str) -> None:
    async with served(system, revision, guard={"ledger": memory()}) as of:
        await visit(of.client, system)
        # The handler of a list gets no session.
        assert {one for one in of.of.ran if one.startswith("list")} <= {"list None"}


@pytest.mark.parametrize(
    ("system", "revision"),
    [*((system, "2026-07-28") for system in tally.SYSTEMS), ("lowlevel", "2025-11-25")],
)
async def test_sessions_over_stdio(system: str, revision: str) -> None:
    options: Any = {"program": "tally.py", "mode": MODES[revision]}
    async with wire.over_stdio(system, KEYS, "alice", **options) as alice:
        await visit(alice, system)


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

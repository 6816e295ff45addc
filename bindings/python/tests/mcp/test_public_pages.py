"""What a cache may hand to anybody: pages of lists, and what must not be on them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import shop
import tally
import wire
from carriers import Cursor, view
from mcp.server.caching import CacheHint
from test_data_layer import ask, carried
from test_guard import KEYS, SYSTEMS

import sealwax
from sealwax.mcp import Guard, Presented, Refusal, principal_from_access_token
from sealwax.mcp._servers import low_level

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.anyio
LIST = "resources/list"


class Hinted:
    """Builds the shop, and has the SDK say for how long and for whom its answers are good."""

    def __init__(self, scope: Any) -> None:
        hint = CacheHint(ttl_ms=60_000, scope=scope)
        self._hints = {LIST: hint, "tools/list": hint, "resources/read": hint}

    def __getattr__(self, system: str) -> Any:
        def build(of: shop.Shop, **options: Any) -> Any:
            server = getattr(shop, system)(of, **options)
            low_level(server).cache_hints.update(self._hints)
            return server

        return build


class Asked:
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Presented] = []

    def accept(self, presented: Presented) -> bool:
        self.asked.append(presented)
        return True

    def ended(self, presented: Presented) -> None:
        """Nothing to do."""


class Served:
    def __init__(self, url: str, refusals: list[Refusal], asked: list[Presented]) -> None:
        self.url, self.refusals, self.asked = url, refusals, asked


@asynccontextmanager
async def served(system: str, scope: Any = "public", **options: Any) -> AsyncIterator[Served]:
    accept, refusals = Asked(), list[Refusal]()
    defaults: dict[str, Any] = {
        "codec": shop.codec(KEYS),
        "principal": principal_from_access_token,
        "on_refused": refusals.append,
        "accept": accept,
    }
    guard = Guard(**{**defaults, **options})
    guard.sessions(initial=lambda _ctx: 7)
    app = wire.app(system, shop.Shop(guard), where=Hinted(scope))
    with wire.listening(app) as url:
        yield Served(url, refusals, accept.asked)


def user(of: Served, name: str) -> Any:
    return wire.over_http(of.url, name, mode="2026-07-28")


def anonymous() -> sealwax.View:
    return shop.codec(KEYS).view(anonymous=True)


@SYSTEMS
async def test_a_cursor_on_a_public_page_is_anybodys(system: str) -> None:
    async with served(system) as of, user(of, "alice") as alice, user(of, "bob") as bob:
        page = await ask(alice, LIST)
        assert (page["cacheScope"], page["ttlMs"]) == ("public", 60_000)
        cursor = page["nextCursor"]
        assert anonymous().cursor(LIST).open(cursor).payload
        for client in (bob, alice):
            assert Cursor().taken(await Cursor().present(client, cursor))
        assert [(one.kind, one.principal) for one in of.asked] == [("cursor", None)] * 2
        # Of this list, unaltered, alive, and of this service.
        other = sealwax.Codec(keys=KEYS, audience="https://other.example.com")
        bad = [
            anonymous().cursor("tools/list").seal(b"10"),
            cursor[:-1] + ("A" if cursor[-1] != "A" else "Q"),
            other.view(anonymous=True).cursor(LIST).seal(b"10"),
            view(shop.codec(KEYS), wire.principal("mallory")).cursor(LIST).seal(b"10"),
        ]
        for one in bad:
            assert await Cursor().present(bob, one) == Cursor.refusal
        assert all(one.principal == wire.principal("bob") for one in of.refusals)
        # What a replica sealed for one user, before, or of a page that was private.
        mine = view(shop.codec(KEYS), wire.principal("alice")).cursor(LIST)
        payload = anonymous().cursor(LIST).open(cursor).payload
        assert Cursor().taken(await Cursor().present(alice, mine.seal(payload)))
        assert await Cursor().present(bob, mine.seal(payload)) == Cursor.refusal
        assert of.refusals[-1].code == "principal_mismatch"


@SYSTEMS
async def test_an_expired_cursor_of_a_public_page_is_refused(system: str) -> None:
    async with served(system) as of, user(of, "alice") as alice:
        old = anonymous().cursor(LIST).seal(b"10", ttl=1)
        await anyio.sleep(1.1)
        assert await Cursor().present(alice, old) == Cursor.refusal
        assert [one.code for one in of.refusals] == ["expired"]


@SYSTEMS
async def test_a_cursor_on_a_private_page_is_its_users(system: str) -> None:
    async with served(system, "private") as of, user(of, "alice") as alice, user(of, "bob") as bob:
        page = await ask(alice, LIST)
        assert page["cacheScope"] == "private"
        assert await Cursor().present(bob, page["nextCursor"]) == Cursor.refusal
        assert Cursor().taken(await Cursor().present(alice, page["nextCursor"]))
        assert [one.principal for one in of.asked] == [wire.principal("alice")]


@SYSTEMS
async def test_of_revisions_without_caches_a_cursor_is_its_users(system: str) -> None:
    async with served(system) as of, wire.over_http(of.url, "alice", mode="legacy") as alice:
        cursor = await Cursor().good(alice)
        with pytest.raises(sealwax.PrincipalMismatch):
            anonymous().cursor(LIST).open(cursor)
        assert Cursor().taken(await Cursor().present(alice, cursor))


@SYSTEMS
async def test_who_somebody_is_is_not_asked_for_a_page_of_everybody(system: str) -> None:
    """Nothing of it is theirs; but whoever comes with a cursor is somebody."""

    def principal(_ctx: Any) -> None:
        return None

    async with served(system, principal=principal) as of, user(of, "alice") as alice:
        page = await ask(alice, LIST)
        assert await Cursor().present(alice, page["nextCursor"]) == Cursor.internal


@SYSTEMS
async def test_what_says_something_of_a_session_is_private(system: str) -> None:
    async with served(system) as of, user(of, "alice") as alice, user(of, "bob") as bob:
        session = (await ask(alice, "sessions/create"))["session"]
        page = await ask(alice, LIST, session)
        assert (page["cacheScope"], page["ttlMs"]) == ("private", 0)
        assert carried(page) == {"sessionId": session["sessionId"]}
        cursor = page["nextCursor"]
        assert await Cursor().present(bob, cursor) == Cursor.refusal
        assert Cursor().taken(await Cursor().present(alice, cursor))
        # A list without a cursor, and what is no list.
        page = await ask(alice, "tools/list", session)
        assert (page["cacheScope"], page["ttlMs"]) == ("private", 0)
        assert (await ask(alice, "tools/list"))["cacheScope"] == "public"
        read = await wire.raw(
            of.url,
            "resources/read",
            {"uri": "item:///1", "_meta": {"io.modelcontextprotocol/session": session}},
            name="item:///1",
        )
        if system != "lowlevel":
            assert (read["result"]["cacheScope"], read["result"]["ttlMs"]) == ("private", 0)
        assert carried(read["result"])["sessionId"] == session["sessionId"]


@pytest.mark.parametrize("system", tally.SYSTEMS)
async def test_a_server_for_anybody_has_pages_for_anybody(system: str) -> None:
    async with (
        served(system, principal="anonymous") as of,
        user(of, "alice") as alice,
        user(of, "bob") as bob,
    ):
        cursor = await Cursor().good(alice)
        assert Cursor().taken(await Cursor().present(bob, cursor))
        mine = view(shop.codec(KEYS), wire.principal("alice")).cursor(LIST).seal(b"10")
        assert await Cursor().present(bob, mine) == Cursor.refusal
        assert [one.code for one in of.refusals] == ["principal_mismatch"]

"""Pages of lists that a cache may give to anyone, and private ones."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import shop
import wire
from carriers import Cursor, view
from data_layer import ask, carried
from guarded import KEYS, SYSTEMS
from mcp.server.caching import CacheHint

import sealwax
from sealwax.mcp import Guard, Presented, Refusal, principal_from_access_token
from sealwax.mcp._handler.servers import low_level

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

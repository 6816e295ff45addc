"""Every system with every SDK on both transports: what is taken, and what is refused alike."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
import shop
import wire
from carriers import CARRIERS, Handle, RequestState, altered, view
from environment import at
from ledgers import memory

import sealwax
from sealwax.mcp import Guard, Refusal, principal_from_access_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import Client

pytestmark = pytest.mark.anyio
KEYS, RETIRED = (str(sealwax.Key.generate().to_text()) for _ in range(2))
MODES = {"2026-07-28": "2026-07-28", "2025-11-25": "legacy"}

#: Why each is refused: for the author, and only the author.
CODES = {
    "another user's": {"principal_mismatch", "unauthentic"},
    "another request's": {"unauthentic", "wrong_purpose"},
    "altered": {"unauthentic"},
    "of a retired key": {"unknown_key", "unauthentic"},
    "too large": {"too_large", "malformed"},
    "no token": {"malformed"},
    "empty": {"malformed"},
    "expired": {"expired"},
    "used twice": {"used", "ended"},
}


def expired() -> dict[str, str]:
    """Make an expired one of each that may have a lifetime of its own."""
    alice = view(shop.codec(KEYS), wire.principal("alice"))
    timed = (carrier for carrier in CARRIERS if carrier.kind != "handle")
    with at((int(time.time()) - 60) * 1000):
        return {carrier.kind: carrier.forge(alice, ttl=1) for carrier in timed}


async def judge(
    carrier: Any, client: Client, expired: dict[str, str]
) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Present what is good, then all that is not; return the order and the answers."""
    codec, retired = shop.codec(KEYS), shop.codec(RETIRED)
    alice = view(codec, wire.principal("alice"))
    assert carrier.absent(await carrier.present(client, None))
    good = await carrier.good(client)
    bad = {
        "another user's": carrier.forge(view(codec, wire.principal("mallory"))),
        "another request's": carrier.forge(alice, other=True),
        "altered": altered(good),
        "of a retired key": carrier.forge(view(retired, wire.principal("alice"))),
        "too large": good + "A" * 20_000,
        "no token": "Basket seven, please",
        "empty": "",
    }
    answers = {name: await carrier.present(client, token) for name, token in bad.items()}
    if carrier.kind in expired:
        answers["expired"] = await carrier.present(client, expired[carrier.kind])
    told = await carrier.present(client, good)
    assert carrier.taken(told), told
    if isinstance(carrier, Handle):
        assert carrier.taken(await carrier.present(client, good))
        assert not (await client.call_tool(carrier.end, {"handle": good})).is_error
    if carrier.kind != "cursor":
        answers["used twice"] = await carrier.present(client, good)
    replica = carrier.made_by_a_replica(alice, good)
    assert carrier.taken(await carrier.present(client, replica))
    return list(answers), answers


def assert_alike(carrier: Any, answers: dict[str, dict[str, Any]]) -> None:
    first = next(iter(answers.values()))
    for name, answer in answers.items():
        assert answer == first, name
    if isinstance(carrier, Handle):
        assert {name: first.get(name) for name in ("content", "isError")} == carrier.refusal
        # The rest is the envelope that every result has, and has nothing to do with the refusal.
        assert set(first) <= {"content", "isError", "resultType", "_meta"}
    else:
        assert first == carrier.refusal


@pytest.mark.parametrize("revision", MODES)
@pytest.mark.parametrize("system", shop.SYSTEMS)
async def test_over_http(system: str, revision: str) -> None:
    refusals: list[Refusal] = []
    guard = Guard(
        codec=shop.codec(KEYS),
        principal=principal_from_access_token,
        on_refused=refusals.append,
        ledger=memory(),
    )
    of = shop.Shop(guard)
    with wire.listening(wire.app(system, of)) as url:
        async with wire.over_http(url, "alice", mode=MODES[revision]) as alice:
            old = expired()
            for carrier in CARRIERS:
                if isinstance(carrier, RequestState) and revision != "2026-07-28":
                    continue
                refusals.clear()
                order, answers = await judge(carrier, alice, old)
                assert_alike(carrier, answers)
                assert [refusal.kind for refusal in refusals] == [carrier.kind] * len(order)
                for name, refusal in zip(order, refusals, strict=True):
                    assert refusal.code in CODES[name], (name, refusal)
                    assert refusal.principal == wire.principal("alice")
                if carrier.kind != "handle":
                    assert all(
                        refusal.id is not None
                        for name, refusal in zip(order, refusals, strict=True)
                        if name not in ("too large", "no token", "empty")
                    )


@pytest.mark.parametrize(
    ("system", "revision"),
    [*((system, "2026-07-28") for system in shop.SYSTEMS), ("mcpserver", "2025-11-25")],
)
async def test_over_stdio(system: str, revision: str) -> None:
    async with wire.over_stdio(system, KEYS, "alice", mode=MODES[revision]) as alice:
        old = expired()
        for carrier in CARRIERS:
            if isinstance(carrier, RequestState) and revision != "2026-07-28":
                continue
            _, answers = await judge(carrier, alice, old)
            assert_alike(carrier, answers)


async def _pages(client: Client) -> AsyncIterator[list[str]]:
    page = await client.list_resources()
    yield [str(resource.uri) for resource in page.resources]
    while page.next_cursor is not None:
        page = await client.list_resources(cursor=page.next_cursor)
        yield [str(resource.uri) for resource in page.resources]


@pytest.mark.parametrize("system", shop.SYSTEMS)
async def test_all_pages_of_a_list(system: str) -> None:
    guard = Guard(codec=shop.codec(KEYS), principal=principal_from_access_token)
    with wire.listening(wire.app(system, shop.Shop(guard))) as url:
        async with wire.over_http(url, "alice") as client:
            pages = [page async for page in _pages(client)]
    assert [len(page) for page in pages] == [10, 10, 5]
    assert [uri for page in pages for uri in page] == [f"item:///{number}" for number in range(25)]

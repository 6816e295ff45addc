"""A guard with a ledger: states and handles that are used once, and room."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import guarded
import pytest
import shop
import wire
from carriers import HandleState, RequestState, plain
from environment import at
from ledgers import HOUR, Deaf, memory
from working import at_once

import sealwax
from sealwax.mcp import Guard, Refusal, principal_from_access_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ledgers import Store


pytestmark = pytest.mark.anyio


async def test_of_many_who_use_a_state_at_once_one_may(store: Store) -> None:
    async with guarded.served(**store.of(shop.AUDIENCE)) as of:
        carrier = RequestState()
        state = await carrier.good(of.client)
        told = await at_once(*[lambda: carrier.present(of.client, state)] * 8)
        assert [one == carrier.refusal for one in told].count(False) == 1
        assert sum(carrier.taken(one) for one in told if "error" not in one) == 1


async def test_a_state_is_used_once_in_a_fleet(shared: Store) -> None:
    async with (
        guarded.served(**shared.of(shop.AUDIENCE)) as one,
        guarded.served(**shared.of(shop.AUDIENCE)) as other,
    ):
        carrier = RequestState()
        state = await carrier.good(one.client)
        assert carrier.taken(await carrier.present(other.client, state))
        for of in (one, other):
            assert await carrier.present(of.client, state) == carrier.refusal
            assert of.codes == ["used"]


async def test_of_what_a_ledger_raises_the_type_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async with guarded.served(ledger=Deaf(memory(), "admit", 2)) as of:
        carrier = RequestState()
        state = await carrier.good(of.client)
        assert await carrier.present(of.client, state) == carrier.internal
        assert "found ConnectionError" in of.refusals[0].message
    assert "hunter2" not in caplog.text + str(of.refusals)


class Once(shop.Shop):
    """Its self-contained handles are used up by their renewal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.held = self.guard.self_contained_handles("order", ttl=self.max_age, single_use=True)


@asynccontextmanager
async def once(system: str, guard: dict[str, Any]) -> AsyncIterator[guarded.Served]:
    refusals: list[Refusal] = []
    of = Once(
        Guard(
            codec=shop.codec(guarded.KEYS),
            principal=principal_from_access_token,
            on_refused=refusals.append,
            **guard,
        )
    )
    with wire.listening(wire.app(system, of)) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            yield guarded.Served(url, of, refusals, client)


async def test_of_two_who_renew_at_once_one_may(store: Store) -> None:
    async with once("mcpserver", store.of(shop.AUDIENCE)) as of:
        first = await HandleState().good(of.client)
        adds = [
            lambda item=item: of.client.call_tool("add", {"handle": first, "item": item})
            for item in "ab"
        ]
        told = [plain(one) for one in await at_once(*adds)]
        assert sorted(bool(one.get("isError")) for one in told) == [False, True]


def test_single_use_takes_a_ledger() -> None:
    guard = Guard(codec=shop.codec(guarded.KEYS), principal="anonymous")
    with pytest.raises(sealwax.InvalidArgument, match="single_use: expected a guard with a"):
        guard.self_contained_handles("order", single_use=True)
    with pytest.raises(sealwax.InvalidArgument, match="idle: expected a guard with a ledger"):
        guard.asgi(None, idle=60)
    with pytest.raises(sealwax.InvalidArgument, match="ledger_options: expected a ledger"):
        Guard(codec=shop.codec(guarded.KEYS), principal="anonymous", ledger_options={})


async def test_a_full_ledger_refuses_whoever_comes() -> None:
    async with guarded.served(ledger=memory(capacity=6_000)) as of:
        carrier, told = RequestState(), []
        for _ in range(20):
            state = await carrier.good(of.client)
            told.append(await carrier.present(of.client, state))
        served = [carrier.taken(one) if "error" not in one else one for one in told]
        assert served.index(carrier.internal) in range(2, 12)
        assert set(of.codes) == {"ledger_unavailable"}
        assert of.refusals[0].message.startswith("ledger: no room")
        # One user fills half: others are served.
        async with wire.over_http(of.url, "bob", mode="2026-07-28") as bob:
            assert carrier.taken(await carrier.present(bob, await carrier.good(bob)))


async def test_what_is_over_makes_room() -> None:
    now = int(time.time())
    async with guarded.served(ledger=memory(capacity=3_000), request_state_ttl=60) as of:
        carrier = RequestState()
        while "error" not in await carrier.present(of.client, await carrier.good(of.client)):
            pass
        with at((now + HOUR) * 1000):
            async with wire.over_http(of.url, "alice", mode="2026-07-28") as client:
                assert carrier.taken(await carrier.present(client, await carrier.good(client)))

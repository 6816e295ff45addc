"""A guard with a ledger: states and handles that are used once, and room."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import guarded
import pytest
import shop
import wire
from carriers import HandleState, RequestState, plain, view
from environment import at
from ledgers import HOUR, Deaf, memory
from remembering import Remembering
from working import SYSTEM_AND_STORE, at_once

import sealwax
from sealwax.ledger import Memory
from sealwax.mcp import Guard, Refusal, principal_from_access_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ledgers import Store


pytestmark = pytest.mark.anyio
SYSTEMS = pytest.mark.parametrize("system", shop.SYSTEMS)


@SYSTEM_AND_STORE
async def test_a_state_is_used_once(system: str, store: Store) -> None:
    async with guarded.served(system, **store.of(shop.AUDIENCE)) as of:
        carrier = RequestState()
        state = await carrier.good(of.client)
        assert carrier.taken(await carrier.present(of.client, state))
        of.shop.ran.clear()
        assert await carrier.present(of.client, state) == carrier.refusal
        assert of.codes == ["used"]
        assert of.shop.ran == []
        other = await carrier.good(of.client)
        assert carrier.taken(await carrier.present(of.client, other))


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


async def test_a_state_may_be_used_again_where_the_author_says_so() -> None:
    options: Any = {"reusable_request_state": True}
    async with guarded.served(ledger=memory(), ledger_options=options) as of:
        carrier = RequestState()
        state = await carrier.good(of.client)
        for _ in range(2):
            assert carrier.taken(await carrier.present(of.client, state))
        assert of.codes == []


async def test_what_the_store_did_and_nobody_heard_is_no_second_use(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    options = store.of(shop.AUDIENCE)
    options["ledger"] = Deaf(options["ledger"], "admit", 1)
    async with guarded.served(**options) as of:
        carrier = RequestState()
        state = await carrier.good(of.client)
        assert carrier.taken(await carrier.present(of.client, state))
        assert options["ledger"].count("admit") == 2
        assert await carrier.present(of.client, state) == carrier.refusal
        assert of.codes == ["used"]
    options["ledger"] = Deaf(store.ledger(), "admit", 2)
    async with guarded.served(**options) as of:
        state = await carrier.good(of.client)
        assert await carrier.present(of.client, state) == carrier.internal
        assert of.codes == ["ledger_unavailable"]
        assert "found ConnectionError" in of.refusals[0].message
    assert "hunter2" not in caplog.text + str(of.refusals)


async def test_a_second_replica_that_knows_nothing_accepts_nothing() -> None:
    """Memory is for one process: what another one made is older than it."""
    carrier = RequestState()
    with at((int(time.time()) - 60) * 1000):
        state = carrier.forge(view(shop.codec(guarded.KEYS), wire.principal("alice")))
    async with guarded.served(ledger=Memory()) as of:
        assert await carrier.present(of.client, state) == carrier.refusal
        assert of.codes == ["unknown"]
        assert carrier.taken(await carrier.present(of.client, await carrier.good(of.client)))


class Once(shop.Shop):
    """Its held handles are used up by their renewal."""

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


@SYSTEM_AND_STORE
async def test_a_handle_is_used_up_by_its_renewal(system: str, store: Store) -> None:
    async with once(system, store.of(shop.AUDIENCE)) as of:

        async def tool(name: str, **arguments: Any) -> Any:
            return plain(await of.client.call_tool(name, arguments))

        first = await HandleState().good(of.client)
        for _ in range(2):
            assert HandleState().taken(await HandleState().present(of.client, first))
        made = await tool("add", handle=first, item="milk")
        second = made["structuredContent"]["handle"]
        for name, more in (("add", {"item": "rice"}), ("open", {})):
            told = await tool(name, handle=first, **more)
            assert told["content"] == HandleState.refusal["content"]
        assert of.codes == ["used", "used"]
        found = (await tool("open", handle=second))["structuredContent"]
        assert found == {"items": ["tea", "milk"], "generation": 1}
        third = (await tool("add", handle=second, item="rice"))["structuredContent"]["handle"]
        assert not (await tool("end_order", handle=third)).get("isError")
        told = await tool("open", handle=third)
        assert told["content"] == HandleState.refusal["content"]
        assert of.codes[2:] == ["ended"]


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
    for accept in (None, Remembering()):
        guard = Guard(codec=shop.codec(guarded.KEYS), principal="anonymous", accept=accept)
        with pytest.raises(sealwax.InvalidArgument, match="single_use: expected a guard with a"):
            guard.self_contained_handles("order", single_use=True)
        with pytest.raises(sealwax.InvalidArgument, match="idle: expected a guard with a ledger"):
            guard.asgi(None, idle=60)
        with pytest.raises(sealwax.InvalidArgument, match="ledger_options: expected a ledger"):
            Guard(
                codec=shop.codec(guarded.KEYS),
                principal="anonymous",
                accept=accept,
                ledger_options={},
            )


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

"""A guard with a ledger: at two replicas that share a store, and what Python has of its own."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import data_layer
import guarded
import pytest
import shop
import tally
import wire
from carriers import RequestState
from data_layer import call, carried, created
from ledgers import Deaf, Wrapped, memory

import sealwax
from sealwax.mcp import Guard, LedgerUnavailable, principal_from_access_token

if TYPE_CHECKING:
    from ledgers import Store

pytestmark = pytest.mark.anyio
STATE = RequestState()


async def test_a_state_is_used_once_in_a_fleet(shared: Store) -> None:
    async with (
        guarded.served(**shared.of(shop.AUDIENCE)) as one,
        guarded.served(**shared.of(shop.AUDIENCE)) as other,
    ):
        state, told = await STATE.good(one.client), list[Any]()

        async def present(of: guarded.Served) -> None:
            told.append(await STATE.present(of.client, state))

        async with anyio.create_task_group() as group:
            for of in (one, other) * 4:
                group.start_soon(present, of)
        (good,) = (one for one in told if one != STATE.refusal)
        assert STATE.taken(good)
        assert one.codes + other.codes == ["used"] * 7


async def test_what_ended_is_over_at_every_replica(shared: Store) -> None:
    operator = Guard(
        codec=tally.codec(data_layer.KEYS),
        principal=principal_from_access_token,
        **shared.of(tally.AUDIENCE),
    )
    options = shared.of(tally.AUDIENCE)
    options["ledger_options"]["clock_tolerance"] = 0
    async with (
        data_layer.served("lowlevel", guard=options) as one,
        data_layer.served("fastmcp", guard=shared.of(tally.AUDIENCE)) as other,
    ):
        ended, signed_out = await created(one.client), await created(other.client)
        later = {**ended, **carried(await call(other.client, "count", ended))}
        assert "error" not in await data_layer.ask(one.client, "sessions/delete", ended)
        await operator.revoke(wire.principal("alice"))
        for of in (one, other):
            for session in (ended, later, signed_out):
                gone = sealwax.answer("data-layer", session_id=session["sessionId"])
                assert await call(of.client, "count", session) == gone
            assert of.codes == ["ended", "ended", "revoked"]
        # A new session is good, once the clock says that it is later.
        second = int(time.time())
        while int(time.time()) == second:
            await anyio.sleep(0.05)
        assert "error" not in await call(one.client, "count", await created(one.client))


async def test_of_what_a_ledger_raises_the_type_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async with guarded.served(ledger=Deaf(memory(), "admit", 2)) as of:
        assert await STATE.present(of.client, await STATE.good(of.client)) == STATE.internal
        assert "found ConnectionError" in of.refusals[0].message
    assert "hunter2" not in caplog.text + str(of.refusals)


def test_what_takes_a_ledger_says_so() -> None:
    guard = Guard(codec=shop.codec(guarded.KEYS), principal="anonymous")
    with pytest.raises(sealwax.InvalidArgument, match="single_use: expected a guard with a"):
        guard.self_contained_handles("order", single_use=True)
    with pytest.raises(sealwax.InvalidArgument, match="idle: expected a guard with a ledger"):
        guard.asgi(None, idle=60)
    with pytest.raises(sealwax.InvalidArgument, match="ledger_options: expected a ledger"):
        Guard(codec=shop.codec(guarded.KEYS), principal="anonymous", ledger_options={})


async def test_to_revoke_takes_a_ledger_and_its_word() -> None:
    def guard(**options: Any) -> Guard:
        return Guard(codec=shop.codec(guarded.KEYS), principal="anonymous", **options)

    with pytest.raises(sealwax.InvalidArgument, match="expected a guard that has one"):
        await guard().revoke("anonymous")
    made = guard(ledger=Deaf(memory(), "revoke", 2))
    with pytest.raises(LedgerUnavailable, match="found ConnectionError"):
        await made.revoke("anonymous")
    for wrong in (None, "alice"):
        with pytest.raises(sealwax.InvalidArgument):
            await made.revoke(wrong)  # type: ignore[arg-type]


async def test_to_keep_nothing_is_not_to_keep_it_for_400_days() -> None:
    ledger = Wrapped(memory())
    guard = Guard(codec=shop.codec(guarded.KEYS), principal="anonymous", ledger=ledger)
    # The engine may refuse it.
    with suppress(sealwax.InvalidArgument):
        await guard.revoke("anonymous", retain_for=0)
    revoked = [command["args"] for command in ledger.asked if command["script"] == "revoke"]
    assert all(retain_for == "0" for retain_for, _now in revoked)

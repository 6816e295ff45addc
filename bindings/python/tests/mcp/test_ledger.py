"""A guard with a ledger: at two replicas that share a store, and what Python has of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import wire
from carriers import STATE, ask, call, carried, created
from ledgers import memory
from shop import guard, served

import sealwax

if TYPE_CHECKING:
    from ledgers import Store
    from shop import Served

pytestmark = pytest.mark.anyio


async def test_a_state_is_used_once_in_a_fleet(shared: Store) -> None:
    async with served(**shared.of()) as one, served(**shared.of()) as other:
        state, told = await STATE.good(one.client), list[Any]()

        async def present(of: Served) -> None:
            told.append(await STATE.present(of.client, state))

        async with anyio.create_task_group() as group:
            for of in (one, other) * 4:
                group.start_soon(present, of)
        (good,) = (one for one in told if one != STATE.refusal)
        assert STATE.taken(good)
        assert one.codes + other.codes == ["used"] * 7


async def test_what_ended_is_over_at_every_replica(shared: Store) -> None:
    operator = guard(**shared.of())
    shop: dict[str, Any] = {"sessions": {}}
    options = shared.of()
    options["ledger_options"]["clock_tolerance"] = 0
    async with (
        served("lowlevel", shop=shop, **options) as one,
        served("fastmcp", shop=shop, **shared.of()) as other,
    ):
        ended, signed_out = await created(one.client), await created(other.client)
        later = {**ended, **carried(await call(other.client, "count", ended))}
        assert "error" not in await ask(one.client, "sessions/delete", ended)
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


async def test_what_takes_a_ledger_says_so() -> None:
    with pytest.raises(sealwax.InvalidArgument, match="single_use: expected a guard with a"):
        guard().self_contained_handles("order", single_use=True)
    with pytest.raises(sealwax.InvalidArgument, match="expected a guard that has one"):
        await guard().revoke("anonymous")
    wrong: Any
    for wrong in (None, "alice"):
        with pytest.raises(sealwax.InvalidArgument):
            await guard(ledger=memory()).revoke(wrong)

"""A guard with a ledger: concurrent writes to a session."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import anyio
import pytest
import shop
import tally
from data_layer import ask, call, carried, created
from ledgers import Wrapped, memory, stale
from working import SYSTEM_AND_STORE, add_one, at_once, until, working

if TYPE_CHECKING:
    from ledgers import Store

    from sealwax.mcp import Session

pytestmark = pytest.mark.anyio
SYSTEMS = pytest.mark.parametrize("system", shop.SYSTEMS)


@SYSTEM_AND_STORE
async def test_of_two_who_write_at_once_one_hears_of_the_other(system: str, store: Store) -> None:
    async with working(add_one, store.of(tally.AUDIENCE), system) as (of, client):
        first = await created(client)
        of.crowd = 2
        told = await at_once(*[lambda: call(client, "it", first)] * 2)
        of.crowd = 1
        assert of.ran == 2
        (lost,) = (one for one in told if one.get("isError"))
        (won,) = (one for one in told if not one.get("isError"))
        ran, latest = stale(lost)
        assert ran is True
        # What the handler gave is discarded, and so is what it wrote.
        assert "structuredContent" not in lost
        assert won["structuredContent"] == {"did": 1}
        assert latest["state"] == carried(won)["state"]
        told = [await call(client, "it", latest)]
        assert told[0]["structuredContent"] == {"did": 2}
        assert of.codes == ["stale"]


@SYSTEMS
async def test_a_cancelled_request_commits_nothing(system: str) -> None:
    ledger = Wrapped(memory())
    began, left = threading.Event(), threading.Event()

    async def wait(session: Session) -> None:
        session.write(session.value + 1)
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            left.set()

    async with working(wait, {"ledger": ledger}, system, stateless=False) as (of, client):
        session = await created(client)
        async with anyio.create_task_group() as group:
            group.start_soon(call, client, "it", session)
            await until(began)
            group.cancel_scope.cancel()
        await until(left)
        # Its state is the latest one still.
        assert "error" not in await ask(client, "tools/list", session)
        assert ledger.count("admit") == 2
        assert ledger.count("commit") == 0
        assert of.codes == []

"""A guard with a ledger: at two replicas that share a file, and what Python has of its own."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from carriers import STATE
from ledgers import HOUR, keys, memory
from shop import guard, served

import sealwax
from sealwax.ledger import SQLite

if TYPE_CHECKING:
    from pathlib import Path

    from shop import Served

pytestmark = pytest.mark.anyio


async def test_a_state_is_used_once_in_a_fleet(tmp_path: Path) -> None:
    file, since = tmp_path / "ledger.db", int(time.time()) - HOUR
    replicas = [served(ledger=SQLite(file), time_limit=20) for _ in range(2)]
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        # It remembers for an hour, by the file's own clock.
        for key, value in zip(keys(), (f"{since}", f"{since} - {since}"), strict=True):
            database.execute("INSERT INTO sealwax_ledger VALUES (?, ?, NULL)", (key, value))
    async with replicas[0] as one, replicas[1] as other:
        state, told = await STATE.good(one.client), list[Any]()

        async def present(of: Served) -> None:
            told.append(await STATE.present(of.client, state))

        async with anyio.create_task_group() as group:
            for of in (one, other) * 4:
                group.start_soon(present, of)
        (good,) = (one for one in told if one != STATE.refusal)
        assert STATE.taken(good)
        assert one.codes + other.codes == ["used"] * 7


async def test_what_takes_a_ledger_says_so() -> None:
    with pytest.raises(sealwax.InvalidArgument, match="single_use: expected a guard with a"):
        guard().self_contained_handles("order", single_use=True)
    with pytest.raises(sealwax.InvalidArgument, match="expected a guard that has one"):
        await guard().revoke("anonymous")
    wrong: Any
    for wrong in (None, "alice"):
        with pytest.raises(sealwax.InvalidArgument):
            await guard(ledger=memory()).revoke(wrong)

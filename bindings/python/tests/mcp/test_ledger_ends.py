"""A guard with a ledger: what ended, or was revoked, is refused at every replica."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio
import data_layer
import http_sessions
import pytest
import tally
import wire
from data_layer import ask, call, carried, created
from ledgers import Deaf, age, keys, memory
from processes import on_stdio, refused
from working import SYSTEM_AND_SHARED, gone

import sealwax
from sealwax.ledger import SQLite
from sealwax.mcp import Guard, LedgerUnavailable, principal_from_access_token

if TYPE_CHECKING:
    from pathlib import Path

    from ledgers import Store


pytestmark = pytest.mark.anyio


@SYSTEM_AND_SHARED
async def test_what_ended_is_over_at_every_replica(system: str, shared: Store) -> None:
    async with (
        data_layer.served(system, guard=shared.of(tally.AUDIENCE)) as one,
        data_layer.served(system, guard=shared.of(tally.AUDIENCE)) as other,
    ):
        session = await created(one.client)
        later = {**session, **carried(await call(other.client, "count", session))}
        assert "error" not in await ask(one.client, "sessions/delete", session)
        for of in (one, other):
            for state in (session, later):
                assert await call(of.client, "count", state) == gone(session)
                assert await ask(of.client, "sessions/delete", state) == gone(session)
            assert of.codes == ["ended"] * 4


async def test_a_session_that_any_replica_sees_is_not_idle(shared: Store) -> None:
    served = http_sessions.served
    async with (
        served(guard=shared.of(tally.AUDIENCE), idle=1) as brief,
        served(guard=shared.of(tally.AUDIENCE), idle=60) as one,
        served(guard=shared.of(tally.AUDIENCE), idle=60) as other,
    ):
        session = await one.session()
        # Not at every request is it seen anew.
        for of in (other, one, other):
            assert (await of.send("ping", session)).status_code == 200
        await anyio.sleep(2.1)
        assert (await brief.send("ping", session)).status_code == 404
        assert brief.codes == ["ended"]
        assert (await other.send("ping", session)).status_code == 200


def test_on_stdio_a_session_ends_for_good_and_when_it_is_idle(tmp_path: Path) -> None:
    environment = {"LEDGER": str(tmp_path / "ledger.db"), "IDLE": "60"}
    ledger = SQLite(environment["LEDGER"])
    age(ledger, keys(tally.AUDIENCE), path=tmp_path / "ledger.db")
    ledger.close()
    with on_stdio("mcpserver", more=environment) as server:
        session = server.initialize()["result"]["sessionId"]
        assert server.ask("ping", sessionId=session)["result"] == {"sessionId": session}
        ended = server.initialize()["result"]["sessionId"]
        assert server.ask("session/terminate", sessionId=ended)["result"] == {}
    with on_stdio("mcpserver", more=environment) as server:
        assert server.ask("ping", sessionId=session)["result"] == {"sessionId": session}
        assert server.ask("ping", sessionId=ended) == refused(ended)
    time.sleep(2.1)
    with on_stdio("mcpserver", more={**environment, "IDLE": "1"}) as server:
        assert server.ask("ping", sessionId=session) == refused(session)


@SYSTEM_AND_SHARED
async def test_whoever_is_revoked_is_out_at_every_replica(system: str, shared: Store) -> None:
    operator = Guard(
        codec=tally.codec(data_layer.KEYS),
        principal=principal_from_access_token,
        **shared.of(tally.AUDIENCE),
    )
    served = data_layer.served
    options = shared.of(tally.AUDIENCE)
    options["ledger_options"]["clock_tolerance"] = 0
    async with (
        served(system, guard=options) as one,
        served(system, guard=shared.of(tally.AUDIENCE)) as other,
        wire.over_http(one.url, "bob", mode="2026-07-28") as bob,
    ):
        sessions = [await created(client) for client in (one.client, other.client)]
        bobs = await created(bob)
        await operator.revoke(wire.principal("alice"))
        for of in (one, other):
            for session in sessions:
                assert await call(of.client, "count", session) == gone(session)
            assert of.codes == ["revoked"] * 2
        assert "error" not in await call(bob, "count", bobs)
        # A new session is good, once the clock says that it is later.
        second = int(time.time())
        while int(time.time()) == second:
            await anyio.sleep(0.05)
        assert "error" not in await call(one.client, "count", await created(one.client))


async def test_to_revoke_takes_a_ledger_and_its_word() -> None:
    alone = Guard(codec=tally.codec(data_layer.KEYS), principal="anonymous")
    with pytest.raises(sealwax.InvalidArgument, match="expected a guard that has one"):
        await alone.revoke("anonymous")

    def guard(lost: int) -> tuple[Guard, Deaf]:
        ledger = Deaf(memory(), "revoke", lost)
        codec = tally.codec(data_layer.KEYS)
        return Guard(codec=codec, principal="anonymous", ledger=ledger), ledger

    made, ledger = guard(1)
    await made.revoke("anonymous", retain_for=60)
    assert ledger.count("revoke") == 2
    with pytest.raises(LedgerUnavailable, match="found ConnectionError"):
        await guard(2)[0].revoke("anonymous")
    for wrong in (None, "alice"):
        with pytest.raises(sealwax.InvalidArgument):
            await made.revoke(wrong)  # type: ignore[arg-type]

"""A guard with a ledger: what ended, or was revoked, is refused at every replica."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import anyio
import data_layer
import guarded
import http_sessions
import pytest
import shop
import tally
import wire
from carriers import Handle, HandleState
from data_layer import ask, call, carried, created
from environment import at
from ledgers import Deaf, age, keys, memory
from processes import SEP, on_stdio, refused
from working import SYSTEM_AND_SHARED, gone, until, working

import sealwax
from sealwax.ledger import SQLite
from sealwax.mcp import AcceptUnavailable, Guard, principal_from_access_token

if TYPE_CHECKING:
    from pathlib import Path

    from ledgers import Store

    from sealwax.mcp import Session

pytestmark = pytest.mark.anyio
SYSTEMS = pytest.mark.parametrize("system", shop.SYSTEMS)


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


@SYSTEM_AND_SHARED
async def test_a_handle_that_ended_is_over_at_every_replica(system: str, shared: Store) -> None:
    async with (
        guarded.served(system, **shared.of(shop.AUDIENCE)) as one,
        guarded.served(system, **shared.of(shop.AUDIENCE)) as other,
    ):
        for carrier in (Handle(), HandleState()):
            handle = await carrier.good(one.client)
            assert carrier.taken(await carrier.present(other.client, handle))
            ended = await other.client.call_tool(carrier.end, {"handle": handle})
            assert not ended.is_error
            told = await carrier.present(one.client, handle)
            assert told["content"] == carrier.refusal["content"]
            assert one.codes.pop() == "ended"


async def test_a_write_does_not_revive_a_session_that_ended(store: Store) -> None:
    began, go = threading.Event(), threading.Event()

    async def late(session: Session) -> None:
        began.set()
        await until(go)
        session.write(session.value + 1)

    async with working(late, store.of(tally.AUDIENCE)) as (of, client):
        session, told = await created(client), list[Any]()

        async def write() -> None:
            told.append(await call(client, "it", session))

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            await until(began)
            assert "error" not in await ask(client, "sessions/delete", session)
            go.set()
        assert told == [gone(session)]
        assert of.codes == ["ended"]


@pytest.mark.parametrize("way", ["header", "message"])
@SYSTEM_AND_SHARED
async def test_a_session_of_the_transport_ends_for_good(
    system: str, way: str, shared: Store
) -> None:
    served = http_sessions.served
    async with (
        served(system, guard=shared.of(tally.AUDIENCE), **SEP) as one,
        served(system, guard=shared.of(tally.AUDIENCE), **SEP) as other,
    ):
        session, stolen = await one.session(), await one.session()
        assert (await other.send("ping", session)).status_code == 200
        if way == "header":
            assert (await other.send(http="DELETE", session=session)).status_code == 204
        else:
            told = await other.send("session/terminate", sessionId=session)
            assert wire.told(told.text)["result"] == {}
        # As SEP-1359 specifies, another principal that presents a session ends it.
        assert (await one.send("ping", stolen, user="mallory")).status_code == 404
        for of in (one, other):
            of.refusals.clear()
            for over in (session, stolen):
                assert (await of.send("ping", over)).status_code == 404
                assert wire.told((await of.send("ping", sessionId=over)).text) == refused(over)
            assert of.codes == ["ended"] * 4


async def test_a_session_of_the_transport_ends_when_it_is_idle() -> None:
    now = int(time.time())
    async with http_sessions.served(guard={"ledger": memory()}, idle=600, **SEP) as of:
        idle, busy = await of.session(), await of.session()
        for later in (400, 800, 1200):
            with at((now + later) * 1000):
                assert (await of.send("ping", busy)).status_code == 200
        with at((now + 1200) * 1000):
            assert (await of.send("ping", idle)).status_code == 404
            assert of.codes == ["ended"]
        with at((now + 1900) * 1000):
            assert (await of.send("ping", busy)).status_code == 404


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
    with pytest.raises(AcceptUnavailable, match="found ConnectionError"):
        await guard(2)[0].revoke("anonymous")
    for wrong in (None, "alice"):
        with pytest.raises(sealwax.InvalidArgument):
            await made.revoke(wrong)  # type: ignore[arg-type]

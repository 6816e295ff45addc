"""A guard with a ledger, on every SDK and in every store, by official clients."""

from __future__ import annotations

import threading
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
import shop
import tally
import test_data_layer
import test_guard
import test_http_sessions
import wire
from carriers import Handle, HandleState, RequestState, plain, view
from environment import at
from ledgers import HOUR, Behind, Deaf, Wrapped, age, keys, memory, stale
from lone import Lone
from remembering import Remembering
from test_data_layer import ask, call, carried, created
from test_sep1359 import SEP, on_stdio, refused

import sealwax
from sealwax.ledger import Memory, SQLite
from sealwax.mcp import AcceptUnavailable, Guard, Refusal, principal_from_access_token
from sealwax.mcp.client import ClientSessions, InMemory

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from ledgers import Store
    from mcp import Client

    from sealwax.mcp import Session, Sessions
    from sealwax.mcp.client import ClientSession

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("patient")]
SYSTEMS = pytest.mark.parametrize("system", shop.SYSTEMS)
INTERNAL = sealwax.answer("data-layer", sealwax.InternalError())


def gone(session: dict[str, Any]) -> dict[str, Any]:
    return sealwax.answer("data-layer", session_id=session["sessionId"])


class Working:
    """A server of one tool that has a session, which a client asks for several times at once.

    With `crowd` each call waits, before it goes on, until there are as many.
    """

    def __init__(self, does: Callable[[Session], Any], guard: dict[str, Any]) -> None:
        self.refusals: list[Refusal] = []
        self.crowd, self.ran = 1, 0
        self._met: anyio.Event | None = None
        self._here = 0
        defaults: dict[str, Any] = {
            "codec": tally.codec(test_data_layer.KEYS),
            "principal": principal_from_access_token,
            "on_refused": self.refusals.append,
        }
        self.guard = Guard(**{**defaults, **guard})
        self.sessions: Sessions = self.guard.sessions(initial=lambda _ctx: 0)
        self._does = does

    @property
    def codes(self) -> list[str]:
        return [refusal.code for refusal in self.refusals]

    async def it(self, ctx: Any) -> dict[str, Any]:
        self.ran += 1
        session = self.sessions.of(ctx)
        assert session is not None
        await self._meet()
        did = self._does(session)
        return {"did": await did if hasattr(did, "__await__") else did}

    async def _meet(self) -> None:
        self._met = self._met or anyio.Event()
        met, self._here = self._met, self._here + 1
        if self._here == self.crowd:
            self._met, self._here = None, 0
            met.set()
        await met.wait()


@asynccontextmanager
async def working(
    does: Callable[[Session], Any], guard: dict[str, Any], system: str = "mcpserver", **how: Any
) -> AsyncIterator[tuple[Working, Client]]:
    of = Working(does, guard)
    with wire.listening(wire.app(system, None, where=Lone(of.guard, of.it), **how)) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            yield of, client


def add_one(session: Session) -> Any:
    session.write(session.value + 1)
    return session.value


async def at_once(*calls: Callable[[], Awaitable[Any]]) -> list[Any]:
    told: dict[int, Any] = {}

    async def one(place: int, asked: Callable[[], Awaitable[Any]]) -> None:
        told[place] = await asked()

    async with anyio.create_task_group() as group:
        for place, asked in enumerate(calls):
            group.start_soon(one, place, asked)
    return [told[place] for place in range(len(calls))]


# What is used once.


@SYSTEMS
async def test_a_state_is_used_once(system: str, store: Store) -> None:
    async with test_guard.served(system, **store.of(shop.AUDIENCE)) as of:
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
    async with test_guard.served(**store.of(shop.AUDIENCE)) as of:
        carrier = RequestState()
        state = await carrier.good(of.client)
        told = await at_once(*[lambda: carrier.present(of.client, state)] * 8)
        assert [one == carrier.refusal for one in told].count(False) == 1
        assert sum(carrier.taken(one) for one in told if "error" not in one) == 1


async def test_a_state_is_used_once_in_a_fleet(shared: Store) -> None:
    async with (
        test_guard.served(**shared.of(shop.AUDIENCE)) as one,
        test_guard.served(**shared.of(shop.AUDIENCE)) as other,
    ):
        carrier = RequestState()
        state = await carrier.good(one.client)
        assert carrier.taken(await carrier.present(other.client, state))
        for of in (one, other):
            assert await carrier.present(of.client, state) == carrier.refusal
            assert of.codes == ["used"]


async def test_a_state_may_be_used_again_where_the_author_says_so(store: Store) -> None:
    options = store.of(shop.AUDIENCE)
    options["ledger_options"]["reusable_request_state"] = True
    async with test_guard.served(**options) as of:
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
    async with test_guard.served(**options) as of:
        carrier = RequestState()
        state = await carrier.good(of.client)
        assert carrier.taken(await carrier.present(of.client, state))
        assert options["ledger"].count("admit") == 2
        assert await carrier.present(of.client, state) == carrier.refusal
        assert of.codes == ["used"]
    options["ledger"] = Deaf(store.ledger(), "admit", 2)
    async with test_guard.served(**options) as of:
        state = await carrier.good(of.client)
        assert await carrier.present(of.client, state) == carrier.internal
        assert of.codes == ["ledger_unavailable"]
        assert "found ConnectionError" in of.refusals[0].message
    assert "hunter2" not in caplog.text + str(of.refusals)


async def test_a_second_replica_that_knows_nothing_accepts_nothing() -> None:
    """Memory is for one process: what another one made is older than it."""
    carrier = RequestState()
    with at((int(time.time()) - 60) * 1000):
        state = carrier.forge(view(shop.codec(test_guard.KEYS), wire.principal("alice")))
    async with test_guard.served(ledger=Memory()) as of:
        assert await carrier.present(of.client, state) == carrier.refusal
        assert of.codes == ["unknown"]
        assert carrier.taken(await carrier.present(of.client, await carrier.good(of.client)))


# Sessions.


@SYSTEMS
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
async def test_an_older_state_is_answered_with_the_latest(system: str, store: Store) -> None:
    async with working(add_one, store.of(tally.AUDIENCE), system) as (of, client):
        first = await created(client)
        second = carried(await call(client, "it", first))
        of.ran = 0
        for answer in (
            await call(client, "it", first),
            await ask(client, "tools/list", first),
            await ask(client, "resources/list", {**first, "state": first["state"]}),
        ):
            ran, latest = stale(answer)
            assert ran is False
            assert latest["state"] == second["state"]
            assert latest["sessionId"] == first["sessionId"]
        assert of.ran == 0
        assert of.codes == ["stale"] * 3
        assert "error" in await ask(client, "tools/list", first)
        third = carried(await call(client, "it", latest))
        assert "error" not in await ask(client, "tools/list", {**first, **third})


@SYSTEMS
async def test_of_those_who_update_at_once_all_do(system: str, store: Store) -> None:
    def update(session: Session) -> Any:
        return session.update(lambda value: value + 1)

    async with working(update, store.of(tally.AUDIENCE), system) as (of, client):
        first = await created(client)
        of.crowd = 5
        told = await at_once(*[lambda: call(client, "it", first)] * 5)
        of.crowd = 1
        assert not [one for one in told if one.get("isError")]
        assert of.ran == 5
        assert of.codes == []
        ran, latest = stale(await call(client, "it", first))
        assert ran is False
        told = await at_once(lambda: call(client, "it", latest))
        assert told[0]["structuredContent"] == {"did": 6}


async def test_an_update_that_fails_loses_nothing(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def once(value: int) -> int:
        if value:
            raise ValueError("of the value, which no log may hold")
        return value + 1

    async with working(lambda session: session.update(once), store.of(tally.AUDIENCE)) as made:
        of, client = made
        first = await created(client)
        of.crowd = 2
        told = await at_once(*[lambda: call(client, "it", first)] * 2)
        assert sorted("error" in one for one in told) == [False, True]
        assert [one for one in told if "error" in one] == [INTERNAL]
        assert of.codes == ["invalid_argument"]
        assert "found ValueError" in of.refusals[0].message
    assert "no log" not in caplog.text


async def test_what_was_written_and_updated_is_not_written_again(store: Store) -> None:
    def both(session: Session) -> None:
        session.write(7)
        session.update(lambda value: value + 1)

    async with working(both, store.of(tally.AUDIENCE)) as (of, client):
        first = await created(client)
        of.crowd = 2
        told = await at_once(*[lambda: call(client, "it", first)] * 2)
        assert [stale(one)[0] for one in told if one.get("isError")] == [True]


async def test_a_commit_that_nobody_heard_of_is_no_second_write(store: Store) -> None:
    options = store.of(tally.AUDIENCE)
    options["ledger"] = Deaf(options["ledger"], "commit", 1)
    async with working(add_one, options) as (of, client):
        told = await call(client, "it", await created(client))
        assert told["structuredContent"] == {"did": 1}
        assert options["ledger"].count("commit") == 2
        assert "error" not in await call(client, "it", carried(told))
        assert of.codes == []
    options["ledger"] = Deaf(store.ledger(), "commit", 2)
    async with working(add_one, options) as (of, client):
        session = await created(client)
        assert await call(client, "it", session) == INTERNAL
        assert of.codes == ["ledger_unavailable"]
        # The client has its token still, and hears of what was written.
        ran, latest = stale(await call(client, "it", session))
        assert ran is False
        assert (await call(client, "it", latest))["structuredContent"] == {"did": 2}


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
            await _until(began)
            group.cancel_scope.cancel()
        await _until(left)
        # Its state is the latest one still.
        assert "error" not in await ask(client, "tools/list", session)
        assert ledger.count("admit") == 2
        assert ledger.count("commit") == 0
        assert of.codes == []


async def _until(event: threading.Event) -> None:
    with anyio.fail_after(60):
        while not event.is_set():
            await anyio.sleep(0.01)


# What ended.


@SYSTEMS
async def test_what_ended_is_over_at_every_replica(system: str, shared: Store) -> None:
    async with (
        test_data_layer.served(system, guard=shared.of(tally.AUDIENCE)) as one,
        test_data_layer.served(system, guard=shared.of(tally.AUDIENCE)) as other,
    ):
        session = await created(one.client)
        later = {**session, **carried(await call(other.client, "count", session))}
        assert "error" not in await ask(one.client, "sessions/delete", session)
        for of in (one, other):
            for state in (session, later):
                assert await call(of.client, "count", state) == gone(session)
                assert await ask(of.client, "sessions/delete", state) == gone(session)
            assert of.codes == ["ended"] * 4


@SYSTEMS
async def test_a_handle_that_ended_is_over_at_every_replica(system: str, shared: Store) -> None:
    async with (
        test_guard.served(system, **shared.of(shop.AUDIENCE)) as one,
        test_guard.served(system, **shared.of(shop.AUDIENCE)) as other,
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
        await _until(go)
        session.write(session.value + 1)

    async with working(late, store.of(tally.AUDIENCE)) as (of, client):
        session, told = await created(client), list[Any]()

        async def write() -> None:
            told.append(await call(client, "it", session))

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            await _until(began)
            assert "error" not in await ask(client, "sessions/delete", session)
            go.set()
        assert told == [gone(session)]
        assert of.codes == ["ended"]


@pytest.mark.parametrize("way", ["header", "message"])
@SYSTEMS
async def test_a_session_of_the_transport_ends_for_good(
    system: str, way: str, shared: Store
) -> None:
    served = test_http_sessions.served
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
        # Whoever presents another's session ends it: so SEP-1359 has it.
        assert (await one.send("ping", stolen, user="mallory")).status_code == 404
        for of in (one, other):
            of.refusals.clear()
            for over in (session, stolen):
                assert (await of.send("ping", over)).status_code == 404
                assert wire.told((await of.send("ping", sessionId=over)).text) == refused(over)
            assert of.codes == ["ended"] * 4


async def test_a_session_of_the_transport_ends_when_it_is_idle() -> None:
    now = int(time.time())
    async with test_http_sessions.served(guard={"ledger": memory()}, idle=600, **SEP) as of:
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
    served = test_http_sessions.served
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


@SYSTEMS
def test_on_stdio_a_session_ends_for_good_and_when_it_is_idle(system: str, tmp_path: Path) -> None:
    environment = {"LEDGER": str(tmp_path / "ledger.db"), "IDLE": "60"}
    ledger = SQLite(environment["LEDGER"])
    age(ledger, keys(tally.AUDIENCE), path=tmp_path / "ledger.db")
    ledger.close()
    with on_stdio(system, more=environment) as server:
        session = server.initialize()["result"]["sessionId"]
        assert server.ask("ping", sessionId=session)["result"] == {"sessionId": session}
        ended = server.initialize()["result"]["sessionId"]
        assert server.ask("session/terminate", sessionId=ended)["result"] == {}
    with on_stdio(system, more=environment) as server:
        assert server.ask("ping", sessionId=session)["result"] == {"sessionId": session}
        assert server.ask("ping", sessionId=ended) == refused(ended)
    time.sleep(2.1)
    with on_stdio(system, more={**environment, "IDLE": "1"}) as server:
        assert server.ask("ping", sessionId=session) == refused(session)


# Who signed out.


@SYSTEMS
async def test_whoever_is_revoked_is_out_at_every_replica(system: str, shared: Store) -> None:
    operator = Guard(
        codec=tally.codec(test_data_layer.KEYS),
        principal=principal_from_access_token,
        **shared.of(tally.AUDIENCE),
    )
    served = test_data_layer.served
    options = shared.of(tally.AUDIENCE)
    options["ledger_options"]["allowance"] = 0
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
    alone = Guard(codec=tally.codec(test_data_layer.KEYS), principal="anonymous")
    with pytest.raises(sealwax.InvalidArgument, match="expected a guard that has one"):
        await alone.revoke("anonymous")

    def guard(lost: int) -> tuple[Guard, Deaf]:
        ledger = Deaf(memory(), "revoke", lost)
        codec = tally.codec(test_data_layer.KEYS)
        return Guard(codec=codec, principal="anonymous", ledger=ledger), ledger

    made, ledger = guard(1)
    await made.revoke("anonymous", lives=60)
    assert ledger.count("revoke") == 2
    with pytest.raises(AcceptUnavailable, match="found ConnectionError"):
        await guard(2)[0].revoke("anonymous")
    for wrong in (None, "alice"):
        with pytest.raises(sealwax.InvalidArgument):
            await made.revoke(wrong)  # type: ignore[arg-type]


# Handles that are used once.


class Once(shop.Shop):
    """Its held handles are used up by their renewal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.held = self.guard.held_handles("order", ttl=self.max_age, single_use=True)


@asynccontextmanager
async def once(system: str, guard: dict[str, Any]) -> AsyncIterator[test_guard.Served]:
    refusals: list[Refusal] = []
    of = Once(
        Guard(
            codec=shop.codec(test_guard.KEYS),
            principal=principal_from_access_token,
            on_refused=refusals.append,
            **guard,
        )
    )
    with wire.listening(wire.app(system, of)) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            yield test_guard.Served(url, of, refusals, client)


@SYSTEMS
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
        guard = Guard(codec=shop.codec(test_guard.KEYS), principal="anonymous", accept=accept)
        with pytest.raises(sealwax.InvalidArgument, match="single_use: expected a guard with a"):
            guard.held_handles("order", single_use=True)
        with pytest.raises(sealwax.InvalidArgument, match="idle: expected a guard with a ledger"):
            guard.asgi(None, idle=60)
        with pytest.raises(sealwax.InvalidArgument, match="ledger_options: expected a ledger"):
            Guard(
                codec=shop.codec(test_guard.KEYS),
                principal="anonymous",
                accept=accept,
                ledger_options={},
            )


# A client's helper.


async def count(session: ClientSession) -> Any:
    return plain(await session.call_tool("it"))


async def twice(client: Client) -> tuple[ClientSession, ClientSession]:
    """Return one session, as two hosts have it that know nothing of one another."""
    stores = InMemory(), InMemory()
    one = await ClientSessions(stores[0]).open(client, server="tally", user="alice")
    for key, metadata in stores[0]._kept.items():
        stores[1].save(key, dict(metadata))  # type: ignore[arg-type]
    return one, await ClientSessions(stores[1]).open(client, server="tally", user="alice")


@SYSTEMS
async def test_a_client_goes_on_with_the_latest_state(system: str) -> None:
    async with working(add_one, {"ledger": memory()}, system) as (of, client):
        one, other = await twice(client)
        told = [
            (await count(session))["structuredContent"]["did"]
            for session in (one, other, other, one, other)
        ]
        assert told == [1, 2, 3, 4, 5]
        # What did not run was sent again, and nothing ran twice.
        assert of.ran == 5
        await count(one)
        assert await other.request(types.ListToolsRequest(), types.ListToolsResult)
        assert of.codes == ["stale"] * 5


@SYSTEMS
async def test_a_client_sends_nothing_again_that_ran(system: str) -> None:
    async with working(add_one, {"ledger": memory()}, system) as (of, client):
        one, other = await twice(client)
        of.crowd = 2
        told = await at_once(lambda: count(one), lambda: count(other))
        assert of.ran == 2
        assert [stale(answer)[0] for answer in told if answer.get("isError")] == [True]
        of.crowd = 1
        # Both know the latest state.
        of.refusals.clear()
        assert (await count(one))["structuredContent"] == {"did": 2}
        assert (await count(other))["structuredContent"] == {"did": 3}


async def test_a_client_gives_up() -> None:
    ledger = Behind(memory())
    async with working(add_one, {"ledger": ledger}) as (of, client):
        sessions = ClientSessions()
        session = await sessions.open(client, server="tally", user="alice")
        told = await count(session)
        assert stale(told)[0] is False
        assert ledger.count("admit") == 4
        assert of.ran == 0


# Room.


async def test_a_full_ledger_refuses_whoever_comes() -> None:
    async with test_guard.served(ledger=memory(room=6_000)) as of:
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
    async with test_guard.served(ledger=memory(room=3_000), request_state_ttl=60) as of:
        carrier = RequestState()
        while "error" not in await carrier.present(of.client, await carrier.good(of.client)):
            pass
        with at((now + HOUR) * 1000):
            async with wire.over_http(of.url, "alice", mode="2026-07-28") as client:
                assert carrier.taken(await carrier.present(client, await carrier.good(client)))

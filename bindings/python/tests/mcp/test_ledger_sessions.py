"""A guard with a ledger: concurrent writes to a session, and the client that meets them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
import shop
import tally
import wire
from carriers import plain
from data_layer import KEYS, ask, call, carried, created
from fastmcp.tools import ToolResult
from ledgers import Behind, Wrapped, memory, stale
from working import INTERNAL, SYSTEM_AND_STORE, add_one, at_once, until, working

from sealwax.mcp.client import ClientSessions, InMemory

if TYPE_CHECKING:
    from ledgers import Store
    from mcp import Client

    from sealwax.mcp import Session
    from sealwax.mcp.client import ClientSession

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


def counted(system: str, **more: Any) -> Any:
    """Return a function that makes a result of a number, as such a server's tools do."""

    def make(value: int) -> Any:
        if system == "fastmcp":
            return ToolResult(content=f"{value}", structured_content={"did": value}, **more)
        content: Any = [types.TextContent(text=f"{value}")]
        meta = more.get("meta")
        return types.CallToolResult(content=content, structured_content={"did": value}, _meta=meta)

    return make


@SYSTEM_AND_STORE
@pytest.mark.parametrize("meta", [None, {"example.com/kept": True}])
async def test_each_of_those_who_update_at_once_is_told_what_it_wrote(
    system: str, store: Store, meta: Any
) -> None:
    def update(session: Session) -> Any:
        assert session.update(lambda value: value + 1) == 1
        return session.result(counted(system, meta=meta))

    async with working(update, store.of(tally.AUDIENCE), system) as (of, client):
        first = await created(client)
        of.crowd = 5
        told = await at_once(*[lambda: call(client, "it", first)] * 5)
        assert sorted(one["structuredContent"]["did"] for one in told) == [1, 2, 3, 4, 5]
        for one in told:
            assert one["content"] == [
                {"type": "text", "text": f"{one['structuredContent']['did']}"}
            ]
            # What the SDK and the guard add is there in each.
            assert one.keys() == told[0].keys()
            assert one["_meta"].keys() == told[0]["_meta"].keys()
            assert carried(one)["sessionId"] == first["sessionId"]
            assert one["_meta"].get("example.com/kept") == (meta and True)
        assert of.ran == 5
        assert of.codes == []


async def test_a_result_that_cannot_be_made_again_loses_the_write() -> None:
    def once(value: int) -> Any:
        if value > 1:
            raise ValueError("of the value, which no log may hold")
        return counted("mcpserver")(value)

    def update(session: Session) -> Any:
        session.update(lambda value: value + 1)
        return session.result(once)

    async with working(update, {"ledger": memory()}) as (of, client):
        first = await created(client)
        of.crowd = 2
        told = await at_once(*[lambda: call(client, "it", first)] * 2)
        assert [one for one in told if "error" in one] == [INTERNAL]
        assert of.refusals[0].message.endswith("result: expected a result, found ValueError")
        of.crowd = 1
        _, latest = stale(await call(client, "it", first))
        core = tally.codec(KEYS).view(**wire.principal("alice")._asdict()).sessions()
        assert core.open(latest).json() == 1


async def test_what_is_no_result_is_refused_at_once() -> None:
    made: list[Any] = [7, "7", [7], {"did": 7}]

    def wrong(session: Session) -> Any:
        session.result(lambda _value: made[0])
        return 7

    async with working(wrong, {"ledger": memory()}) as (_, client):
        session = await created(client)
        while made:
            told = await call(client, "it", session)
            assert "error" in told or told["isError"], made.pop(0)
            made.pop(0)


async def test_an_update_that_fails_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def once(value: int) -> int:
        if value:
            raise ValueError("of the value, which no log may hold")
        return value + 1

    async with working(lambda session: session.update(once), {"ledger": memory()}) as made:
        of, client = made
        first = await created(client)
        of.crowd = 2
        told = await at_once(*[lambda: call(client, "it", first)] * 2)
        assert sorted("error" in one for one in told) == [False, True]
        assert [one for one in told if "error" in one] == [INTERNAL]
        assert of.codes == ["invalid_argument"]
        assert "found ValueError" in of.refusals[0].message
    assert "no log" not in caplog.text


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
        await count(session)
        told = await count(session)
        assert stale(told)[0] is False
        assert ledger.count("admit") == 1 + 4
        assert of.ran == 1

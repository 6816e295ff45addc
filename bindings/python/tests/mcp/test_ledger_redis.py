"""A ledger in a Valkey, by redis-py and by valkey-py: connections that break, wait, or are few."""

from __future__ import annotations

import importlib
import os
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import redis
import shop
from carriers import HANDLE, STATE
from far import far
from ledgers import age, client, server, valkey

import sealwax
from sealwax._connections import Connection
from sealwax.ledger import LedgerUnfit, Redis
from sealwax.mcp import LedgerUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager

    from far import Far

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["redis", "valkey"])
def module(request: Any) -> Any:
    """The package of the client."""
    return request.param


def served(**options: Any) -> AbstractAsyncContextManager[shop.Served]:
    """Serve a guard that waits long: most tests are not about time, and the machine may be busy."""
    return shop.served(**{"time_limit": 20, **options})


@contextmanager
def stopped(port: int) -> Iterator[None]:
    """Stop the process of a store meanwhile."""
    process = server(port).info("server")["process_id"]
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


async def works(of: shop.Served) -> None:
    state = await STATE.good(of.client)
    assert STATE.taken(await STATE.present(of.client, state))
    assert await STATE.present(of.client, state) == STATE.refusal


async def ended(of: shop.Served) -> bool:
    handle = await HANDLE.good(of.client)
    told = await of.client.call_tool("end", {"handle": handle})
    assert (await HANDLE.present(of.client, handle))["isError"]
    return not told.is_error


def made_of(module: str, path: str = "asyncio", kind: str = "") -> Any:
    return getattr(importlib.import_module(f"{module}.{path}"), f"{module.capitalize()}{kind}")


def eventually(holds: Any) -> None:
    for _ in range(1200):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError


def is_ok(node: Any) -> bool:
    return "ok" in str(node.execute_command("CLUSTER INFO")["cluster_state"])


@pytest.fixture
def port(valkey: int) -> int:
    """The port of a Valkey whose ledger is an hour old."""
    age(valkey)
    return valkey


@pytest.fixture(scope="session")
def cluster() -> Iterator[tuple[int, int]]:
    """The ports of a Cluster's master and its replica, which begins to write after two seconds."""
    config = {"cluster-enabled": "yes", "cluster-node-timeout": "2000"}
    with valkey(**config) as one, valkey(**config) as other:
        nodes: list[Any] = [redis.Redis(port=of.port, decode_responses=True) for of in (one, other)]
        master, replica = nodes
        master.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        replica.execute_command("CLUSTER", "MEET", "127.0.0.1", one.port)
        name = master.execute_command("CLUSTER", "MYID")
        # Until the handshake is over, a node is listed under another name.
        eventually(lambda: name in str(replica.execute_command("CLUSTER", "NODES")))
        replica.execute_command("CLUSTER", "REPLICATE", name)
        linked = "master_link_status"
        eventually(lambda: replica.info("replication").get(linked) == "up")
        eventually(lambda: is_ok(master) and is_ok(replica))
        eventually(lambda: len(master.execute_command("CLUSTER NODES")) == 2)
        age(one.port)
        yield one.port, other.port


async def test_a_connection_that_broke_refuses_nobody(module: str, port: int) -> None:
    async with served(ledger=Redis(client(module, port))) as of:
        await works(of)
        server(port).execute_command("CLIENT", "KILL", "TYPE", "normal")
        await works(of)
        server(port).script_flush()
        await works(of)
        assert of.codes == ["used"] * 3


CLIENTS: list[dict[str, Any]] = [
    {"decode_responses": True},
    {"protocol": 2},
    {"protocol": 3},
    {"single_connection_client": True},
]


@pytest.mark.parametrize("how", CLIENTS, ids=str)
async def test_however_a_client_was_made(module: str, how: Any, port: int) -> None:
    async with served(ledger=Redis(client(module, port, **how))) as of:
        await works(of)
        assert await ended(of)
        assert of.codes == ["used", "ended"]


async def test_what_it_may_forget_is_said_once(
    module: str, caplog: pytest.LogCaptureFixture
) -> None:
    with valkey() as made:
        ledger = Redis(client(module, made.port))
        for _ in range(2):
            (warning,) = await ledger.check()
        assert warning.startswith("appendonly is off: a restart forgets what ended")
        assert ledger.warnings == [warning]
        assert caplog.text.count(warning) == 1
        server(made.port).config_set("maxmemory-policy", "allkeys-lru")
        server(made.port).config_set("maxmemory", "100mb")
        with pytest.raises(LedgerUnfit, match="maxmemory-policy: expected noeviction"):
            await ledger.check()


def test_a_client_that_stops_other_requests_is_refused(module: str) -> None:
    for wrong in (made_of(module, "client")(), None, "redis://127.0.0.1"):
        with pytest.raises(
            sealwax.InvalidArgument, match=r"expected one of redis\.asyncio or valkey\.asyncio"
        ):
            Redis(wrong)


#: One command may take three tenths of it: more than one round trip, and less than two.
LIMIT, DELAY = 1.3, 0.1


@contextmanager
def at_a_distance(module: str, kind: str, of: int) -> Iterator[tuple[Redis, Far]]:
    """Give the ledger in a store, at a distance."""
    with far(of, DELAY) as (port, proxy):
        driver = client(module, port)
        if kind:
            driver = made_of(module, "asyncio.cluster", kind)(
                host="127.0.0.1",
                port=port,
                address_remap=lambda at: ("127.0.0.1", port) if at[1] == of else at,
            )
        yield Redis(driver), proxy


async def served_again(of: shop.Served) -> int:
    """Return how many states were spent in vain until one was taken."""
    tries = 0
    with anyio.fail_after(60):
        while True:
            state = await STATE.good(of.client)
            told = await STATE.present(of.client, state)
            if "error" not in told:
                assert STATE.taken(told)
                return tries
            assert told == STATE.internal
            tries += 1


async def at_once(of: shop.Served, number: int) -> None:
    """Have several requests served at a time, which takes as many connections."""
    async with anyio.create_task_group() as group:
        for _ in range(number):
            group.start_soon(served_again, of)


@pytest.mark.parametrize("kind", ["", "Cluster"])
async def test_a_store_that_is_far_or_silent(module: str, kind: str, request: Any) -> None:
    port = request.getfixturevalue("cluster")[0] if kind else request.getfixturevalue("port")
    with at_a_distance(module, kind, port) as (ledger, proxy):
        async with shop.served(ledger=ledger, time_limit=LIMIT) as of:
            assert await served_again(of) <= 10
            # What succeeded is kept.
            assert await served_again(of) == 0
            # Connecting goes on, and what it was for is not sent.
            await at_once(of, 6)
            assert set(of.codes) <= {"ledger_unavailable"}
            # Half-open connections are left at once.
            proxy.delay, proxy.lost = 0, proxy.accepted
            assert await served_again(of) <= 1
            await at_once(of, 4)
            with stopped(port):
                told = await STATE.present(of.client, await STATE.good(of.client))
                assert told == STATE.internal
            assert await served_again(of) <= 1


async def test_nothing_is_confirmed_on_a_connection_that_wrote_nothing(
    module: str,
    cluster: tuple[int, int],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`WAIT` counts any replica there; a client that checks its connections makes another one."""
    master, replica = cluster
    ledger = Redis(client(module, master, health_check_interval=3600))
    guard = shop.guard(ledger=ledger, time_limit=4)
    await guard.revoke("anonymous")
    assert "ledger_unconfirmed" not in caplog.text
    with stopped(replica):
        await guard.revoke("anonymous")
        (said,) = (one.message for one in caplog.records if "ledger_unconfirmed" in one.message)
        assert 'message="no replica confirmed it' in said
        execute = Connection.execute

        async def cut(self: Connection, name: str, *rest: Any) -> dict[str, Any]:
            if name == "WAIT":
                # As if the script had taken an hour.
                self._connection.next_health_check = 0
                server(master).execute_command("CLIENT", "KILL", "TYPE", "normal")
            return await execute(self, name, *rest)

        monkeypatch.setattr(Connection, "execute", cut)
        with pytest.raises(LedgerUnavailable, match="found ConnectionError"):
            await guard.revoke("anonymous")


async def test_a_cluster(module: str, cluster: tuple[int, int]) -> None:
    master, replica = cluster
    ledger = Redis(made_of(module, "asyncio.cluster", "Cluster")(host="127.0.0.1", port=master))
    async with served(ledger=ledger, ledger_options={"clock_tolerance": 0}, time_limit=4) as of:
        await works(of)
        assert await ended(of)
        assert of.codes == ["used", "ended"]
        of.refusals.clear()
        with stopped(replica):
            assert await ended(of)
        assert of.codes == ["ledger_unconfirmed", "ended"]

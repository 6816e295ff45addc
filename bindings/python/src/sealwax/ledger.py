"""Ledgers: record which tokens were used or ended, and which state of a session is the latest.

Pass one to :class:`sealwax.mcp.Guard` as `ledger`: :class:`Memory` for one process,
:class:`SQLite` for one machine, :class:`Redis` for a fleet. LEDGER.md describes the records and
the commands; the core makes all decisions.
"""

from __future__ import annotations

import inspect
import json
import logging
import os
import sqlite3
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from . import _json
from ._connections import Connections
from ._errors import InvalidArgument
from ._log import write
from ._machine import Machine, frame, text_of
from ._native import Opaque, lib, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyio import CapacityLimiter
    from anyio.lowlevel import RunVar

    from ._connections import Connection
    from ._documents import Plain, SqliteAnswer, SqliteStep, Statement

__all__ = ["Command", "Ledger", "LedgerError", "LedgerUnfit", "Memory", "Redis", "SQLite"]

#: A command for a ledger: ``script``, ``keys`` and ``args``, all texts.
Command: TypeAlias = "dict[str, Any]"
logger = logging.getLogger("sealwax.ledger")


class Ledger(Protocol):
    """Runs a guard's commands, each in one atomic step, and replies as LEDGER.md says."""

    async def run(self, command: Command, /) -> list[str]:
        """Run a command and return the reply. Any exception refuses the request."""
        ...


class LedgerError(Exception):
    """The store failed to answer. The message goes to the log: it holds no credential."""


class LedgerUnfit(LedgerError):
    """The store cannot be a ledger: it would lose records. The message says what to change."""


class Memory(Opaque):
    """A ledger in the memory of this process: neither shared with replicas nor kept on restart.

    It takes about `capacity` bytes. It never drops a live record: when it is full it refuses new
    ones, and one principal fills at most half. A forked process raises :class:`LedgerUnfit`,
    because the two copies would diverge.

    >>> import sealwax.ledger
    >>> ledger = sealwax.ledger.Memory()
    """

    __slots__ = ("_memory", "_process")

    #: It uses the guard's clock.
    local = True

    def __init__(self, *, capacity: int = 64 << 20) -> None:
        number("capacity", capacity)
        given = frame(lib.SEALWAX_MEMORY, (b"%d" % capacity, b"%d" % self._now()))
        self._memory, _ = Machine.new(given)
        self._process = os.getpid()

    async def run(self, command: Command, /) -> list[str]:
        """Run a command."""
        _expect_process(self._process)
        given = frame(lib.SEALWAX_RUN, (_json.document(command), b"%d" % self._now()))
        reply: list[str] = json.loads(text_of(self._memory.tell(given)))
        return reply

    def _now(self) -> int:
        """Return the Unix time in seconds: of another clock in :mod:`sealwax.testing`."""
        return int(time.time())


class SQLite:
    """A ledger in a file: shared by the processes of one machine, and kept on restart.

    A record that was answered survives a power loss; with ``durable=False`` only the end of the
    process, in a fraction of the time. The file must not be on a network; a new one is its owner's
    alone. Raises
    :class:`LedgerUnfit` for a file that cannot be a ledger, and in a forked process: each process
    opens the file by itself.

    >>> import sealwax.ledger, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> ledger = sealwax.ledger.SQLite(f"{folder}/ledger.db")
    """

    #: It uses the guard's clock.
    local = True

    def __init__(self, path: str | os.PathLike[str], *, durable: bool = True) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        # One thread of each event loop, so that the others stay free for the server.
        self._thread: RunVar[CapacityLimiter] | None = None
        _create(path)
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._talk({"durable": durable})
        except sqlite3.Error as error:
            expected = "path: expected a file of SQLite that can be written"
            raise LedgerUnfit(f"{expected}, found {path}: {error}") from error

    async def run(self, command: Command, /) -> list[str]:
        """Run a command, in a thread: it waits for the disk."""
        from anyio import CapacityLimiter, to_thread
        from anyio.lowlevel import RunVar

        _expect_process(self._process)
        self._thread = self._thread or RunVar("sealwax.ledger.SQLite")
        limiter = self._thread.get(None)
        if limiter is None:
            self._thread.set(limiter := CapacityLimiter(1))
        # Nothing waits for a late command: the engine repeats it as the same attempt.
        return await to_thread.run_sync(self._run, command, abandon_on_cancel=True, limiter=limiter)

    def _run(self, command: Command) -> list[str]:
        # One that was abandoned may hold the file's lock: no thread waits longer than its command.
        if not self._lock.acquire(timeout=command.get("withinMs", 300) / 1000):
            raise TimeoutError
        try:
            return self._talk(command)
        finally:
            self._lock.release()

    def _talk(self, about: dict[str, Any]) -> list[str]:
        """Do what the core says about a command, or about opening the file."""
        machine, said = Machine.new(frame(lib.SEALWAX_SQLITE, (_json.document(about),)))
        step: SqliteStep = json.loads(text_of(said))
        failure: BaseException | None = None
        while (done := step.get("done")) is None:
            if why := step.get("failed"):
                raise failure or LedgerError(why)
            answer: SqliteAnswer = {"rows": []}
            if wait := step.get("wait"):
                failure = None
                time.sleep(wait / 1000)
            else:
                try:
                    answer = {"rows": self._rows(step.get("run") or ())}
                # Whatever ended it, its transaction is rolled back.
                except BaseException as error:
                    failure = failure or error
                    answer = {"error": str(error)}
            step = machine.on(answer)
        return list(done)

    def _rows(self, statements: Sequence[Statement]) -> list[str | None]:
        """Run statements, and return what was read."""
        rows = []
        for statement in statements:
            args = tuple(statement.get("args") or ())
            row = self._connection.execute(statement["sql"], args).fetchone()
            if statement.get("reads"):
                rows.append(str(row[0]) if row else None)
        return rows

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


class Redis:
    """A ledger in Redis 6.2 or later, or Valkey: for a fleet.

    `client` is a ``Redis`` or ``RedisCluster`` of ``redis.asyncio``, or a ``Valkey`` or
    ``ValkeyCluster`` of ``valkey.asyncio``, with any settings: the guard limits the time of each
    command, whatever the client's own time limits and retries. The first command, and each after a
    failure, checks the server, because another server may answer then. To connect and to check may
    take longer: it goes on, and a later command finds it done. Raises :class:`LedgerUnfit`
    for a server that would lose records. A command takes one round trip; ending something, and
    :meth:`sealwax.mcp.Guard.revoke`, take a second one where there are replicas, for one of them
    to confirm it.

    >>> import redis.asyncio, sealwax.ledger
    >>> ledger = sealwax.ledger.Redis(redis.asyncio.Redis(host="ledger.example.com"))
    """

    def __init__(self, client: Any) -> None:
        if not inspect.iscoroutinefunction(getattr(client, "execute_command", None)):
            raise InvalidArgument(
                "client: expected one of redis.asyncio or valkey.asyncio, which does not stop "
                f"other requests, found a {type(client).__name__} of {type(client).__module__}"
            )
        self._store, _ = Machine.new(frame(lib.SEALWAX_STORE, flags=lib.SEALWAX_FLAG_WAITS))
        self._connections = Connections(client, self._check)
        # How scripts are sent whose commands need no store machine.
        self._plain: dict[str, Plain] = {}
        #: Warnings about settings that may lose records, once the server was checked.
        self.warnings: list[str] = []

    async def run(self, command: Command, /) -> list[str]:
        """Run a command."""
        return await self._connections.use(command["keys"][0], self._run, command)

    async def _run(self, connection: Connection, command: Command) -> list[str]:
        script, answer = command["script"], None
        if plain := self._plain.get(script):
            keys, args = command["keys"], command["args"]
            answer = await connection.execute(*plain["send"], len(keys), *keys, *args)
            if answer == {"texts": plain["passes"]}:
                return list(plain["passes"])
        last = await self._talk(connection, {"withinMs": 300, **command}, answer)
        if "plain" in last:
            self._plain[script] = last["plain"]
        else:
            self._plain.clear()
        reply: list[str] = last["done"]
        return reply

    async def check(self) -> list[str]:
        """Return warnings about the server's settings, or raise :class:`LedgerUnfit`."""
        self._connections.forget()
        return await self._connections.use("", self._warned)

    async def _warned(self, _: Connection) -> list[str]:
        return self.warnings

    async def _check(self, connection: Connection) -> None:
        last = await self._talk(connection, {})
        warned: list[str] = last.get("warned", [])
        for warning in set(warned).difference(self.warnings):
            write(logger, logging.WARNING, f"sealwax: ledger: {warning}")
        self.warnings = warned
        for load in last["load"]:
            await connection.send(*load)
        for _ in last["load"]:
            await connection.answer()

    async def _talk(self, connection: Connection, about: dict[str, Any], first: Any = None) -> Any:
        """Send what the core says, and return its last word. `first` is answered already."""
        # Nobody else has the connection meanwhile, so that `WAIT` covers what was sent.
        given = frame(lib.SEALWAX_STORE_MACHINE, (_json.document(about),))
        machine, step = Machine.new(given, self._store)
        last = json.loads(text_of(step))
        while "send" in last:
            answer, first = first or await connection.execute(*last["send"]), None
            last = machine.on(answer)
        if "unfit" in last:
            raise LedgerUnfit(last["unfit"])
        if "failed" in last:
            raise LedgerError(last["failed"])
        return last


def _create(path: str | os.PathLike[str]) -> None:
    """Create a file for its owner alone; SQLite gives those of its journal the same mode."""
    if os.fspath(path) in ("", ":memory:"):
        return
    # What is wrong with the path is SQLite's to say.
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _expect_process(made_in: int) -> None:
    if os.getpid() != made_in:
        raise LedgerUnfit(
            "expected the process that made the ledger, found a fork of it: make one in each"
        )

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
from ._native import Opaque, call, call_for_text, ffi, lib, number, pair

if TYPE_CHECKING:
    from anyio import CapacityLimiter

    from ._connections import Connection

__all__ = ["Command", "Ledger", "LedgerError", "LedgerUnfit", "Memory", "Redis", "SQLite"]

#: A command for a ledger: ``script``, ``keys`` and ``args``, all texts.
Command: TypeAlias = "dict[str, Any]"
logger = logging.getLogger("sealwax.ledger")
#: A command for which a server is checked.
_OPEN: Command = {"script": "open", "keys": [], "args": [], "withinMs": 300}
#: The answer to a command that passed, where no replica has to confirm it.
_PASSED = {"texts": ["ok", "0"]}
#: The time limit to open a file that other processes open too, in seconds.
_OPENING = 5.0


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
        # One thread, so that the others stay free for the server.
        self._thread: CapacityLimiter | None = None
        _create(path)
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            until = time.monotonic() + _OPENING
            while not self._is_set_up():
                if time.monotonic() > until:
                    raise sqlite3.OperationalError("locked by another process")
                time.sleep(0.005)
            if not durable:
                self._connection.execute(_text("sqlite-normal"))
        except sqlite3.Error as error:
            expected = "path: expected a file of SQLite that can be written"
            raise LedgerUnfit(f"{expected}, found {path}: {error}") from error
        names = ("begin", "now", "read", "write", "delete", "sweep")
        self._sql = {name: _text(f"sqlite-{name}") for name in names}

    def _is_set_up(self) -> bool:
        """Set up the file unless it is locked: changing to WAL does not wait for a lock."""
        try:
            for name in ("sqlite-connect", "sqlite-create"):
                for statement in filter(str.strip, _text(name).split(";")):
                    self._connection.execute(statement)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            return False
        return True

    async def run(self, command: Command, /) -> list[str]:
        """Run a command, in a thread: it waits for the disk."""
        from anyio import CapacityLimiter, to_thread

        _expect_process(self._process)
        self._thread = self._thread or CapacityLimiter(1)
        # Nothing waits for a late command: the engine repeats it as the same attempt.
        return await to_thread.run_sync(
            self._run, command, abandon_on_cancel=True, limiter=self._thread
        )

    def _run(self, command: Command) -> list[str]:
        sql = self._sql
        with self._lock:
            self._connection.execute(sql["begin"])
            try:
                execute = self._connection.execute
                ((now,),) = execute(sql["now"])
                rows = [execute(sql["read"], (key, now)).fetchone() for key in command["keys"]]
                judged = _judged(command, now, [row and row[0] for row in rows])
                for write in judged["writes"]:
                    if write["value"] is None:
                        execute(sql["delete"], (write["key"],))
                    else:
                        execute(sql["write"], (write["key"], write["value"], write["until"]))
                if judged["writes"]:
                    execute(sql["sweep"], (now,))
                execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        reply: list[str] = judged["reply"]
        return reply

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
        # The digests of scripts whose commands need no dialogue.
        self._plain: dict[str, str] = {}
        #: Warnings about settings that may lose records, once the server was checked.
        self.warnings: list[str] = []

    async def run(self, command: Command, /) -> list[str]:
        """Run a command."""
        return await self._connections.use(command["keys"][0], self._run, command)

    async def _run(self, connection: Connection, command: Command) -> list[str]:
        script, answer = command["script"], None
        if digest := self._plain.get(script):
            keys, args = command["keys"], command["args"]
            answer = await connection.execute("EVALSHA", digest, len(keys), *keys, *args)
            if answer == _PASSED:
                return ["ok", "0"]
        document = {"withinMs": 300, **command, "checked": True}
        last = await self._talk(connection, document, answer)
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
        # A dialogue begins with the check. The command is not sent.
        last = await self._talk(connection, _OPEN, rounds=1)
        warned: list[str] = last.get("warned", [])
        for warning in set(warned).difference(self.warnings):
            write(logger, logging.WARNING, f"sealwax: ledger: {warning}")
        self.warnings = warned
        # Otherwise the first commands would take two round trips. A server may refuse it.
        scripts = ("open", "admit", "commit", "revoke")
        for name in scripts:
            await connection.send("SCRIPT", "LOAD", _text(name))
        for _ in scripts:
            await connection.answer()

    async def _talk(
        self, connection: Connection, command: Command, first: Any = None, rounds: int = 9
    ) -> Any:
        """Send what the core says, and return its last word. `first` is answered already."""
        # Nobody else has the connection meanwhile, so that `WAIT` covers what was sent.
        given = frame(lib.SEALWAX_DIALOGUE, (_json.document(command),))
        dialogue, step = Machine.new(given, self._store)
        last = json.loads(text_of(step))
        while "send" in last and rounds:
            answer, first = first or await connection.execute(*last["send"]), None
            last, rounds = dialogue.on(answer), rounds - 1
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


def _text(name: str) -> str:
    text, length = ffi.new("const char **"), ffi.new("size_t *")
    call(lib.sealwax_ledger_text, *pair(name.encode()), text, length)
    found: bytes = ffi.unpack(text[0], length[0])
    return found.decode()


def _judged(command: Command, now: int, values: list[str | None]) -> Any:
    written, had = json.dumps(command).encode(), json.dumps(values).encode()
    # The reply is at most as long as the stored values and the command, plus a few numbers.
    capacity = 2 * (len(written) + len(had) + 4096)
    arguments = (*pair(written), now, *pair(had))
    return json.loads(call_for_text(lib.sealwax_ledger_judge, *arguments, capacity=capacity))

"""Ledgers: what remembers that a token was used, that a session ended, and which state is the latest.

LEDGER.md says what they keep and what they are asked; the core decides all of it. One of these is
given to :class:`sealwax.mcp.Guard` as `ledger`. :class:`Memory` is for one process, :class:`SQLite`
for one machine, :class:`Redis` for a fleet.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ._errors import InvalidArgument
from ._native import Opaque, call, call_for_text, fail, ffi, lib, own

if TYPE_CHECKING:
    import os

__all__ = ["Command", "Ledger", "LedgerUnfit", "Memory", "Redis", "SQLite"]

#: What a ledger is asked: ``script``, ``keys`` and ``args``, all texts.
Command: TypeAlias = "dict[str, Any]"
_SCRIPTS = ("open", "admit", "commit", "revoke")


class Ledger(Protocol):
    """Does what a guard asks, in one atomic step, and replies as LEDGER.md says."""

    async def run(self, command: Command, /) -> list[str]:
        """Do a command and return the reply. Whatever is raised refuses the request."""
        ...


class LedgerUnfit(Exception):
    """The store cannot be a ledger: it would forget. The message says what to change."""


class Memory(Opaque):
    """A ledger in the memory of this process: no other replica knows of it, nor this one restarted.

    It takes about `room` bytes. It forgets nothing that is alive: where there is no room, whatever
    is new is refused, and one principal fills at most half.

    >>> import sealwax.ledger
    >>> ledger = sealwax.ledger.Memory()
    """

    __slots__ = ("_lock", "_memory")

    def __init__(self, *, room: int = 64 << 20) -> None:
        self._memory = own("sealwax_memory", lib.sealwax_memory_new, room, _now())
        # A reply lies in the memory until the next call, and cffi lets other threads run.
        self._lock = threading.Lock()

    async def run(self, command: Command, /) -> list[str]:
        """Do a command."""
        written = json.dumps(command).encode()
        text, length = ffi.new("const char **"), ffi.new("size_t *")
        error = ffi.new("sealwax_error *")
        with self._lock:
            if lib.sealwax_memory_run(
                self._memory, written, len(written), _now(), text, length, error
            ):
                fail(error)
            reply: bytes = ffi.unpack(text[0], length[0])
        return _texts(json.loads(reply))


class SQLite:
    """A ledger in a file: for the processes of one machine, and for what follows a restart.

    What was answered survives a loss of power. A file on a network is none of this.

    >>> import sealwax.ledger, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> ledger = sealwax.ledger.SQLite(f"{folder}/ledger.db")
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for name in ("sqlite-connect", "sqlite-create"):
            for statement in filter(str.strip, _text(name).split(";")):
                self._connection.execute(statement)
        names = ("begin", "now", "read", "write", "delete", "sweep")
        self._sql = {name: _text(f"sqlite-{name}") for name in names}

    async def run(self, command: Command, /) -> list[str]:
        """Do a command, in a thread: it waits for the disk."""
        from anyio import to_thread

        return await to_thread.run_sync(self._run, command)

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
        return _texts(judged["reply"])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


class Redis:
    """A ledger in a Redis 6.2 or later, or a Valkey: for a fleet.

    `client` is a ``redis.asyncio.Redis`` or a ``valkey.asyncio.Valkey``, made as you like it. The
    first command checks the server, and raises :class:`LedgerUnfit` for one that would forget.
    """

    def __init__(self, client: Any) -> None:
        if not inspect.iscoroutinefunction(getattr(client, "execute_command", None)):
            raise InvalidArgument(
                "client: expected a redis.asyncio.Redis or a valkey.asyncio.Valkey, found "
                f"{type(client).__name__}"
            )
        self._client = client
        self._scripts = {name: _text(name) for name in _SCRIPTS}
        self._digests = {
            name: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
            for name, text in self._scripts.items()
        }
        #: Whether a replica must confirm each command: nothing can tell one server from the next.
        self._must_confirm = False
        #: What the server's settings may make it forget, once it was asked.
        self.warnings: list[str] | None = None

    async def run(self, command: Command, /) -> list[str]:
        """Do a command."""
        if self.warnings is None:
            await self.check()
        ends = command["script"] == "revoke" or not {"end", "force"}.isdisjoint(command["args"])
        if not ends and not self._must_confirm:
            return await self._send(self._client, command)
        # WAIT is about what its own connection wrote.
        async with self._client.client() as connection:
            reply = await self._send(connection, command)
            if reply[0] == "ok" and reply[1] in ("1", "2"):
                confirmed = await connection.execute_command("WAIT", 1, 200)
                reply += [] if int(confirmed) else ["unconfirmed"]
            return reply

    async def check(self) -> list[str]:
        """Return what the server may forget, or raise :class:`LedgerUnfit`."""
        info = await self._client.execute_command("INFO")
        if isinstance(info, dict):
            info = "".join(f"{name}:{value}\r\n" for name, value in info.items())
        told = info if isinstance(info, bytes) else str(info).encode()
        found = json.loads(
            call_for_text(lib.sealwax_ledger_fitness, told, len(told), room=8192)
        )
        if found["refused"]:
            raise LedgerUnfit("; ".join(found["refused"]))
        warnings: list[str] = found["warned"]
        self.warnings = warnings
        return warnings

    async def _send(self, connection: Any, command: Command) -> list[str]:
        name, keys = command["script"], command["keys"]
        rest = (len(keys), *keys, *command["args"])
        try:
            reply = await connection.execute_command("EVALSHA", self._digests[name], *rest)
        except Exception as error:
            if type(error).__name__ != "NoScriptError":
                raise
            reply = await connection.execute_command("EVAL", self._scripts[name], *rest)
        texts = _texts(reply)
        if name == "open" and texts[0] == "ok":
            self._must_confirm = texts[-1] == "2"
        return texts


def _now() -> int:
    return int(time.time())


def _texts(reply: Any) -> list[str]:
    return [one.decode() if isinstance(one, bytes) else str(one) for one in reply]


def _text(name: str) -> str:
    text, length = ffi.new("const char **"), ffi.new("size_t *")
    written = name.encode()
    call(lib.sealwax_ledger_text, written, len(written), text, length)
    found: bytes = ffi.unpack(text[0], length[0])
    return found.decode()


def _judged(command: Command, now: int, values: list[str | None]) -> Any:
    written, had = json.dumps(command).encode(), json.dumps(values).encode()
    # What is written is not longer than what was there and what is asked, but for a few numbers.
    room = len(written) + len(had) + 4096
    return json.loads(
        call_for_text(
            lib.sealwax_ledger_judge, written, len(written), now, had, len(had), room=2 * room
        )
    )

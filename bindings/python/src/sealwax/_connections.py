"""Connections to a store, which may take longer to set up than a command may take."""

from __future__ import annotations

import asyncio
import inspect
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    Check: TypeAlias = "Callable[[Connection], Awaitable[None]]"

_T = TypeVar("_T")
#: The time limit to connect and to check a server, in seconds.
_CONNECTING = 10.0
#: How many connections are set up at a time for which nobody waits.
_LATE = 16


class Connection:
    """One connection of a client: ``WAIT`` covers its own writes only."""

    def __init__(self, connection: Any, release: Callable[[Any], Any]) -> None:
        self._connection, self._release = connection, release

    async def execute(self, *command: Any) -> dict[str, Any]:
        """Send a command, and return its answer."""
        await self.send(*command)
        return await self.answer()

    async def send(self, *command: Any) -> None:
        """Send a command, of which the answer is taken later."""
        # The client would connect anew, perhaps to another server, and `WAIT` would cover nothing.
        if not self._connection.is_connected:
            raise ConnectionError
        await self._connection.send_command(*command, check_health=False)

    async def answer(self) -> dict[str, Any]:
        """Return the next answer in the form of the core."""
        try:
            found = await self._connection.read_response()
        except Exception as error:
            if not self._connection.is_connected:
                raise
            # The client's classes are named after the codes, which their texts lack.
            name = type(error).__name__.removesuffix("Error").upper()
            return {"error": f"{error}" if name == "RESPONSE" else f"{name} {error}"}
        if isinstance(found, list):
            return {"texts": [_text(one) for one in found]}
        return {"number": found} if isinstance(found, int) else {"text": _text(found)}

    async def renew(self) -> None:
        """Connect anew: another server may answer than before."""
        await self._connection.disconnect()
        await self._connection.connect()

    async def release(self, *, broken: bool = False) -> None:
        """Give it back, for the next command."""
        if broken:
            # A late reply must not be read as that of another command.
            await self._connection.disconnect(nowait=True)
        done = self._release(self._connection)
        if inspect.isawaitable(done):
            await done


class Connections:
    """The connections of a client of Redis or Valkey, or of a Cluster of them.

    What was begun to connect goes on when its command has no time left, so that the next command
    finds it done. No command is sent after its time, nor when it may be answered after it.
    """

    def __init__(self, client: Any, check: Check) -> None:
        """Take an asynchronous client, and the function that checks its server."""
        self._client, self._check = client, check
        self._pool = getattr(client, "connection_pool", None)
        # Some versions want a name that none of them uses, and others warn of it.
        named = self._pool and inspect.signature(self._pool.get_connection).parameters.get(
            "command_name"
        )
        self._name = ["_"] if named and named.default is named.empty else []
        #: Whether nothing failed since a server was checked.
        self._works = False
        #: The connections to a server that was checked; not those that the client made anew since.
        self._checked: weakref.WeakSet[Any] = weakref.WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()

    async def use(self, key: str, work: Callable[..., Awaitable[_T]], *arguments: Any) -> _T:
        """Do work with a checked connection to the server of a key, which nobody else uses."""
        connection = await self._idle() or await self._in_time(key)
        done = False
        try:
            found = await work(connection, *arguments)
            await connection.release()
            done = True
            return found
        finally:
            if not done:
                self.forget()
                # It may have been given back.
                with suppress(KeyError):
                    await asyncio.shield(self._go_on(connection.release(broken=True)))

    def forget(self) -> None:
        """Have the server checked again, on each connection."""
        self._works = False
        self._checked.clear()

    async def _idle(self) -> Connection | None:
        """Return a connection that is there already: to get it takes no task."""
        idle = getattr(self._pool, "_available_connections", ())
        if idle and idle[-1].is_connected and idle[-1] in self._checked:
            connection = await self._acquired("")
            if self._is_checked(connection):
                return connection
            await connection.release()
        return None

    def _is_checked(self, connection: Connection) -> bool:
        return connection._connection in self._checked

    def _reconnected(self, connection: Any) -> None:
        """Have a connection checked again that the client made anew, as it does by itself."""
        self._checked.discard(connection)

    async def _in_time(self, key: str) -> Connection:
        """Return a connection that is made if need be, while the command has enough time left."""
        from anyio import current_effective_deadline, current_time

        began = current_time()
        connecting = asyncio.create_task(self._connected(key))
        try:
            connection = await asyncio.shield(connecting)
        except asyncio.CancelledError:
            if len(self._tasks) >= _LATE:
                connecting.cancel()
            self._go_on(_returned(connecting))
            raise
        if current_time() - began > current_effective_deadline() - current_time():
            # An answer takes as long, and would come too late: the engine repeats the command.
            await asyncio.shield(self._go_on(connection.release()))
            raise TimeoutError
        return connection

    def _go_on(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run to the end whatever becomes of the command: the loop has no other reference."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _connected(self, key: str) -> Connection:
        return await asyncio.wait_for(self._connect(key), _CONNECTING)

    async def _connect(self, key: str) -> Connection:
        if not self._works and hasattr(self._client, "get_node_from_key"):
            await self._client.initialize()
            # Their order is such that the broken one comes last.
            for idle in tuple(self._client.get_node_from_key(key)._free):
                await idle.disconnect()
            # From the reply the client learns the node, if the slot moved.
            await self._client.execute_command("EXISTS", key)
        connection = await self._acquired(key)
        if self._is_checked(connection):
            return connection
        try:
            if not self._works:
                await connection.renew()
            await self._check(connection)
        except BaseException:
            await connection.release(broken=True)
            raise
        connection._connection.register_connect_callback(self._reconnected)
        self._checked.add(connection._connection)
        self._works = True
        return connection

    async def _acquired(self, key: str) -> Connection:
        if hasattr(self._client, "get_node_from_key"):
            node = self._client.get_node_from_key(key)
            connection = Connection(
                node.acquire_connection(), getattr(node, "release", node._free.append)
            )
            try:
                await connection._connection.connect()
            except BaseException:
                await connection.release(broken=True)
                raise
            return connection
        pool: Any = self._pool
        return Connection(await pool.get_connection(*self._name), pool.release)


async def _returned(connecting: asyncio.Task[Connection]) -> None:
    """Give back a connection that came too late for its command."""
    with suppress(Exception, asyncio.CancelledError):
        await (await connecting).release()


def _text(item: Any) -> str:
    return item.decode(errors="replace") if isinstance(item, bytes) else str(item)

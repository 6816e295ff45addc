"""A store that is far away: a proxy on loopback that holds back what passes."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from anyio.from_thread import start_blocking_portal

if TYPE_CHECKING:
    from collections.abc import Iterator


class Far:
    """Passes on what comes, `delay` seconds later in each direction."""

    def __init__(self, port: int, delay: float) -> None:
        self._to, self.delay = port, delay
        #: How many connections were accepted, and how many of the first are half-open: what they
        #: send is swallowed, and nobody says so.
        self.accepted = self.lost = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def end(self, server: asyncio.Server) -> None:
        server.close()
        for task in self._tasks:
            task.cancel()

    async def serve(self, reads: asyncio.StreamReader, writes: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        there = await asyncio.open_connection("127.0.0.1", self._to)
        with suppress(asyncio.CancelledError):
            number = self.accepted
            await asyncio.gather(
                self._pass(number, reads, there[1]), self._pass(number, there[0], writes)
            )

    async def _pass(
        self, number: int, reads: asyncio.StreamReader, writes: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while part := await reads.read(1 << 16):
                if number > self.lost:
                    asyncio.get_running_loop().call_later(self.delay, writes.write, part)
            await asyncio.sleep(self.delay)
            if number > self.lost:
                writes.close()


@contextmanager
def far(port: int, delay: float) -> Iterator[tuple[int, Far]]:
    """Serve a store's port at another one, which is given."""
    proxy = Far(port, delay)
    with start_blocking_portal() as portal:
        server = portal.call(asyncio.start_server, proxy.serve, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1], proxy
        finally:
            portal.call(proxy.end, server)

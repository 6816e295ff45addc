"""What ends while it waits frees its exchanges too: at once, and not when Python collects them.

Those of requests that are answered are counted by the scenario server.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from ledgers import memory
from live import Live
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from shop import codec, guard

import sealwax
from sealwax import _engine, _machine
from sealwax.mcp import Principal, Refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sealwax.ledger import Command

pytestmark = pytest.mark.anyio

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "leaks", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
MANY = 10


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Live:
    return Live(monkeypatch.setattr)


class World:
    """A server in this process. What `waits` names waits until it is cancelled, or for `go`."""

    def __init__(self, waits: str, *, sessions: bool = False) -> None:
        self._waits = waits
        self.waiting, self.go = anyio.Event(), anyio.Event()
        self._memory, self._minted_any = memory(), False
        self.left: list[asyncio.Task[None]] = []
        self.refusals: list[Refusal] = []
        heard: Any = {"time_limit": 60, "on_refused": self.refusals.append}
        self.guard = guard(principal=self.principal, ledger=self, **heard)
        if sessions:
            self.guard.sessions(initial=lambda _ctx: 0)
        self.baskets = self.guard.reference_handles("basket")
        self._server: Server[Any] = Server("leaks", on_call_tool=self.call, on_list_tools=self.list)
        self.guard.protect(self._server)

    async def wait(self, where: str) -> None:
        if where == self._waits:
            self.waiting.set()
            await self.go.wait()

    async def principal(self, ctx: Any) -> Principal:
        await self.wait(f"principal of {ctx.method}")
        return Principal(subject="alice")

    async def run(self, command: Command) -> list[str]:
        # Not for the call itself, before its tool has a handle.
        if self._minted_any:
            await self.wait("ledger of a handle")
        return await self._memory.run(command)

    async def minted(self, ctx: Any) -> str:
        self._minted_any = True
        return (await self.baskets.mint(ctx)).handle

    async def checked(self, ctx: Any, handle: str) -> None:
        with suppress(sealwax.InvalidArgument):
            await self.baskets.check(ctx, handle)

    async def call(self, ctx: Any, params: Any) -> Any:
        await self.wait("handler")
        if params.name == "check":
            await self.checked(ctx, await self.minted(ctx))
        if params.name == "leave":
            self.left.append(asyncio.create_task(self.checked(ctx, await self.minted(ctx))))
            await self.waiting.wait()
        return types.CallToolResult(content=[])

    async def list(self, _ctx: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=[], next_cursor="2")

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        async with (
            create_client_server_memory_streams() as (ours, theirs),
            anyio.create_task_group() as tasks,
        ):
            options = self._server.create_initialization_options()
            tasks.start_soon(self._server.run, *theirs, options)
            yield Client(*ours)
            tasks.cancel_scope.cancel()


class Client:
    def __init__(self, reads: Any, writes: Any) -> None:
        self._reads, self._writes = reads, writes

    async def send(self, method: str, **params: Any) -> None:
        params["_meta"] = ENVELOPE
        message = types.JSONRPCRequest(jsonrpc="2.0", id=1, method=method, params=params)
        await self._writes.send(SessionMessage(message))

    async def cancel(self) -> None:
        method, params = "notifications/cancelled", {"requestId": 1}
        message = types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
        await self._writes.send(SessionMessage(message))

    async def call(self, tool: str) -> None:
        await self.send("tools/call", name=tool, arguments={})
        with anyio.fail_after(20):
            await self._reads.receive()


#: What waits when a message ends in another way, its method, its tool, and what began for it.
WAITING = {
    "before the exchange": ("principal of tools/call", "tools/call", "done", 0),
    # With sessions, the engine asks who it is; and a cancellation is a message of one, too.
    "with sessions": ("principal of tools/call", "tools/call", "done", 1),
    "during the handler": ("handler", "tools/call", "done", 1),
    "after the handler": ("principal of tools/list", "tools/list", None, 1),
    "during an operation": ("ledger of a handle", "tools/call", "check", 3),
}


@pytest.mark.parametrize("ends", ["cancelled", "closed"])
@pytest.mark.parametrize("when", WAITING)
async def test_what_ends_while_it_waits_is_freed(when: str, ends: str, live: Live) -> None:
    waits, method, tool, begun = WAITING[when]
    sessions = when == "with sessions"
    expected = begun + (sessions and ends == "cancelled")
    for _ in range(MANY):
        live.begun = live.freed = 0
        world = World(waits, sessions=sessions)
        async with world.client() as client:
            await client.send(method, **({} if tool is None else {"name": tool, "arguments": {}}))
            with anyio.fail_after(20):
                await world.waiting.wait()
            if ends == "cancelled":
                await client.cancel()
                await live.expect(expected)
        await live.expect(expected)
        assert world.refusals == []


async def test_an_operation_that_outlives_its_request_is_freed(live: Live) -> None:
    world = World("ledger of a handle")
    async with world.client() as client:
        for _ in range(MANY):
            await client.call("leave")
        world.go.set()
        await asyncio.gather(*world.left)
        await live.expect(3 * MANY)


async def test_what_nobody_freed_is_freed_with_its_object(monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[Any] = []
    monkeypatch.setattr(_machine.Machine.__del__, "__defaults__", (freed.append,))
    engine = _engine.Guard(codec(), {})
    exchange, _ = engine.message("tools/call", target="t")
    pointer = exchange._machine
    del exchange
    assert freed == [pointer]
    _machine._free(pointer)
    exchange, _ = engine.message("tools/call", target="t")
    exchange.free()
    del exchange
    assert freed == [pointer]

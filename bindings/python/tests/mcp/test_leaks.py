"""Every way out of a request frees its exchanges: at once, and not when Python collects them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from ledgers import memory
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from shop import codec, guard

import sealwax
from sealwax import _engine, _machine
from sealwax.mcp import SESSION_META_KEY, HandleRefused, Principal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from sealwax.ledger import Command

    Way = Callable[["World", "Client"], Awaitable[Any]]

pytestmark = pytest.mark.anyio

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "leaks", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
MANY = 10


class Live:
    """Counts the exchanges that began, and those that were freed; `__del__` is not counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = self.freed = 0
        init, free = _engine.Exchange.__init__, _machine._free

        def begun(exchange: _engine.Exchange, *made_of: Any) -> None:
            init(exchange, *made_of)
            self.begun += 1

        def freed(pointer: Any) -> None:
            free(pointer)
            self.freed += 1

        monkeypatch.setattr(_engine.Exchange, "__init__", begun)
        monkeypatch.setattr(_machine, "_free", freed)

    async def expect(self, begun: int) -> None:
        """Wait until as many began, and all of them were freed."""
        with anyio.move_on_after(20):
            while (self.begun, self.freed) != (begun, begun):
                await anyio.sleep(0.01)
        assert (self.begun, self.freed) == (begun, begun)


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Live:
    return Live(monkeypatch)


class World:
    """A server in this process. What `waits` names waits until it is cancelled, or for `go`."""

    def __init__(self, *, sessions: bool = False, waits: str = "") -> None:
        self._waits = waits
        self.waiting, self.go = anyio.Event(), anyio.Event()
        self._memory, self.minted_any = memory(), False
        self.left: list[asyncio.Task[None]] = []
        self.guard = guard(principal=self.principal, ledger=self, time_limit=60)
        self.sessions = self.guard.sessions(initial=lambda _ctx: 0) if sessions else None
        self.baskets = self.guard.reference_handles("basket")
        self._server: Server[Any] = Server("leaks", on_call_tool=self.call, on_list_tools=self.list)
        params = types.NotificationParams
        self._server.add_notification_handler("notifications/demo", params, self.noted)
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
        if self.minted_any:
            await self.wait("ledger of a handle")
        return await self._memory.run(command)

    async def noted(self, ctx: Any, _params: Any) -> None:
        await self.minted(ctx)

    async def minted(self, ctx: Any) -> str:
        self.minted_any = True
        return (await self.baskets.mint(ctx)).handle

    async def checked(self, ctx: Any, handle: str) -> None:
        with suppress(sealwax.InvalidArgument):
            await self.baskets.check(ctx, handle)

    async def call(self, ctx: Any, params: Any) -> Any:
        await self.wait("handler")
        if params.name == "ask":
            return types.InputRequiredResult(request_state=self.guard.state(ctx, 7))
        if params.name == "raise":
            raise RuntimeError("the tool's own")
        if params.name == "mint":
            await self.baskets.check(ctx, await self.minted(ctx))
            with pytest.raises(HandleRefused):
                await self.baskets.check(ctx, "no handle")
        if params.name == "leave":
            self.left.append(asyncio.create_task(self.checked(ctx, await self.minted(ctx))))
            await self.waiting.wait()
        if self.sessions is not None and (session := self.sessions.of(ctx)) is not None:
            session.write(session.value + 1)
        return types.CallToolResult(content=[])

    async def list(self, ctx: Any, params: Any) -> Any:
        if params.cursor is None:
            return types.ListToolsResult(tools=[], next_cursor="mint")
        await self.minted(ctx)
        return types.ListToolsResult(tools=[])

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
        self._reads, self._writes, self._ids = reads, writes, count(1)

    async def send(self, method: str, _meta: Any = None, **params: Any) -> int:
        number = next(self._ids)
        params["_meta"] = {**ENVELOPE, **(_meta or {})}
        message = types.JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)
        await self._writes.send(SessionMessage(message))
        return number

    async def note(self, method: str, **params: Any) -> None:
        message = types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
        await self._writes.send(SessionMessage(message))

    async def ask(self, method: str, _meta: Any = None, **params: Any) -> Any:
        await self.send(method, _meta, **params)
        with anyio.fail_after(20):
            answer = (await self._reads.receive()).message
        return answer.result if isinstance(answer, types.JSONRPCResponse) else answer.error.code

    async def call(self, tool: str, _meta: Any = None, **params: Any) -> Any:
        return await self.ask("tools/call", _meta, **{"name": tool, "arguments": {}, **params})


async def asks_back(_world: World, client: Client) -> None:
    state = (await client.call("ask"))["requestState"]
    assert "requestState" in await client.call("ask", requestState=state)


async def lists(_world: World, client: Client) -> None:
    cursor = (await client.ask("tools/list"))["nextCursor"]
    assert "nextCursor" not in await client.ask("tools/list", cursor=cursor)


async def is_refused(_world: World, client: Client) -> None:
    assert await client.call("ask", requestState="no token") == -32602
    assert await client.ask("tools/list", cursor="no token") == -32602
    told = await client.call("done", arguments={"id": 2**53}, requestState="no token")
    assert told["isError"]


async def brings_nothing(_world: World, client: Client) -> None:
    assert await client.ask("demo/unknown") == -32601
    await client.note("notifications/unknown")
    assert await client.ask("tools/call") == -32602


async def is_noted(_world: World, client: Client) -> None:
    info = {"name": "leaks", "version": "1"}
    opened = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    assert "serverInfo" in await client.ask("initialize", **opened)
    await client.note("notifications/demo")


#: The ways, and how many exchanges each begins.
WAYS: dict[str, tuple[Way, int]] = {
    "a tool": (lambda _, client: client.call("done"), 1),
    "a tool that raises": (lambda _, client: client.call("raise"), 1),
    "a tool that asks back": (asks_back, 2),
    "a tool that has handles": (lambda _, client: client.call("mint"), 4),
    "two pages, of which the second has a handle": (lists, 3),
    "refused": (is_refused, 3),
    "one that brings nothing": (brings_nothing, 1),
    "a notification whose handler has a handle": (is_noted, 2),
}


@pytest.mark.parametrize("name", WAYS)
async def test_what_is_served_is_freed(name: str, live: Live) -> None:
    way, begun = WAYS[name]
    world = World()
    async with world.client() as client:
        for _ in range(MANY):
            await way(world, client)
        await live.expect(MANY * begun)


async def test_what_has_a_session_is_freed(live: Live) -> None:
    async with World(sessions=True).client() as client:
        session = (await client.ask("sessions/create"))["session"]
        for _ in range(MANY):
            meta = {SESSION_META_KEY: {name: session[name] for name in ("sessionId", "state")}}
            session = (await client.call("done", meta))["_meta"][SESSION_META_KEY]
            assert (await client.call("done", {SESSION_META_KEY: {"sessionId": 7}})) == -32043
        await live.expect(1 + 2 * MANY)


#: What waits when a message ends in another way, its method, its tool, and what began for it.
WAITING = {
    "before the exchange": ("principal of tools/call", "tools/call", "done", 0),
    # With sessions, the engine asks who it is; and a cancellation is a message of one, too.
    "with sessions": ("principal of tools/call", "tools/call", "done", 1),
    "during the handler": ("handler", "tools/call", "done", 1),
    "after the handler": ("principal of tools/list", "tools/list", None, 1),
    "during an operation": ("ledger of a handle", "tools/call", "mint", 3),
}


@pytest.mark.parametrize("ends", ["cancelled", "closed"])
@pytest.mark.parametrize("when", WAITING)
async def test_what_ends_while_it_waits_is_freed(when: str, ends: str, live: Live) -> None:
    waits, method, tool, begun = WAITING[when]
    sessions = when == "with sessions"
    expected = begun + (sessions and ends == "cancelled")
    for _ in range(MANY):
        live.begun = live.freed = 0
        world = World(waits=waits, sessions=sessions)
        async with world.client() as client:
            params = {} if tool is None else {"name": tool, "arguments": {}}
            number = await client.send(method, **params)
            with anyio.fail_after(20):
                await world.waiting.wait()
            if ends == "cancelled":
                await client.note("notifications/cancelled", requestId=number)
                await live.expect(expected)
        await live.expect(expected)


async def test_an_operation_that_outlives_its_request_is_freed(live: Live) -> None:
    world = World(waits="ledger of a handle")
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

"""What protection adds to a request: the SDKs' servers in this process, without any, with the SDK's own, with ours.

guard.py [quick]

Prints a JSON object a line (benches/run.py says which).
"""

from __future__ import annotations

import gc
import json
import logging
import os
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from time import process_time_ns
from typing import TYPE_CHECKING, Any

import anyio
import sealwax
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.tools import ToolResult
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    JSONRPCRequest,
    TextContent,
)
from sealwax.mcp import Guard, Principal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Call = Callable[[], Awaitable[None]]
    Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]

TURN_NS = 5_000_000
AUDIENCE = "https://mcp.example.com"
PRINCIPAL = Principal("https://idp.example.com", "cli-7", "alice")
ARGUMENTS = {"id": 7, "reason": "the user asked for it"}
SESSION = "io.modelcontextprotocol/session"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
#: What a state or a session holds: 256 bytes of JSON.
FIRST = {"round": 1, "notes": "x" * 234}
COMPACT = json.dumps(FIRST, separators=(",", ":"))
assert len(COMPACT) == 256


def following(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "round": value["round"] % 9 + 1}


class Clear:
    """No protection: what the client brings is taken for true."""

    def install(self, server: Any) -> None:
        """Take out the boundary that the SDK puts in by itself."""
        chain = low_level(server).middleware
        chain[:] = [one for one in chain if not isinstance(one, RequestStateBoundary)]

    def state(self, ctx: Any, text: str | None) -> Any:
        return None if text is None else json.loads(text)

    def sealed(self, ctx: Any, value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    def session(self, ctx: Any) -> dict[str, Any] | None:
        """Write the next value; return what the result's metadata has of it."""
        held = getattr(ctx, "request_context", ctx).meta[SESSION]
        value = following(json.loads(held["state"]))
        return {SESSION: {**held, "state": self.sealed(ctx, value)}}


class Boundary(Clear):
    """The SDK's own, which has no sessions."""

    def install(self, server: Any) -> None:
        bound = repr(PRINCIPAL)
        security = RequestStateSecurity(keys=[os.urandom(32)], bind_principal=lambda _ctx: bound)
        super().install(server)
        low_level(server).middleware.append(RequestStateBoundary(security, default_audience=AUDIENCE))


class Ours(Clear):
    def __init__(self, *, sessions: bool, **options: Any) -> None:
        keys = sealwax.KeyRing([sealwax.Key.generate()])
        codec = sealwax.Codec(keys=keys, audience=AUDIENCE)
        self._guard = Guard(codec=codec, principal=lambda _ctx: PRINCIPAL, **options)
        self._sessions = self._guard.sessions(initial=lambda _ctx: FIRST) if sessions else None

    def install(self, server: Any) -> None:
        self._guard.protect(server)

    def state(self, ctx: Any, text: str | None) -> Any:
        return self._guard.opened(ctx)

    def sealed(self, ctx: Any, value: Any) -> str:
        return self._guard.state(ctx, value)

    def session(self, ctx: Any) -> dict[str, Any] | None:
        assert self._sessions is not None
        session = self._sessions.of(ctx)
        assert session is not None
        session.write(following(session.value))
        return None


def low_level(server: Any) -> Server[Any]:
    """Return the low-level server inside, as the SDKs' own in-memory transports find it."""
    if isinstance(server, MCPServer):
        return server._lowlevel_server
    return server._mcp_server if isinstance(server, FastMCP) else server


# ---- the same server in three ways ----


def asked(by: Clear, ctx: Any, text: str | None) -> InputRequiredResult:
    value = following(by.state(ctx, text) or FIRST)
    return InputRequiredResult(request_state=by.sealed(ctx, value))


def done(meta: dict[str, Any] | None = None) -> CallToolResult:
    return CallToolResult(content=[TextContent(text="done")], _meta=meta)


def lowlevel(by: Clear) -> Server[Any]:
    async def call(ctx: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if params.name == "state":
            return asked(by, ctx, params.request_state)
        return done(by.session(ctx) if params.name == "session" else None)

    return Server("bench", on_call_tool=call)


def mcpserver(by: Clear) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("bench")

    @server.tool()
    async def plain(id: int, reason: str) -> CallToolResult:
        return done()

    @server.tool()
    async def state(id: int, reason: str, ctx: Context) -> CallToolResult | InputRequiredResult:
        return asked(by, ctx, ctx.request_state)

    @server.tool()
    async def session(id: int, reason: str, ctx: Context) -> CallToolResult:
        return done(by.session(ctx))

    return server


def fastmcp(by: Clear) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("bench")

    @server.tool
    async def plain(id: int, reason: str) -> ToolResult:
        return ToolResult(content="done")

    @server.tool
    async def state(id: int, reason: str, ctx: FastContext) -> Any:
        return asked(by, ctx, ctx.request_state)

    @server.tool
    async def session(id: int, reason: str, ctx: FastContext) -> ToolResult:
        return ToolResult(content="done", meta=by.session(ctx))

    return server


# ---- what is asked ----


@asynccontextmanager
async def connected(server: Any) -> AsyncIterator[Ask]:
    """Serve in memory; give what sends a request and returns the answer."""
    low = low_level(server)
    identities = count(1)
    async with AsyncExitStack() as stack:
        if isinstance(server, FastMCP):
            await stack.enter_async_context(server._lifespan_manager())
        ours, theirs = await stack.enter_async_context(create_client_server_memory_streams())
        tasks = await stack.enter_async_context(anyio.create_task_group())
        tasks.start_soon(low.run, *theirs, low.create_initialization_options())
        reads, writes = ours

        async def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
            params = {**params, "_meta": {**META, **params.get("_meta", {})}}
            request = JSONRPCRequest(jsonrpc="2.0", id=next(identities), method=method, params=params)
            await writes.send(SessionMessage(request))
            answer: Any = await reads.receive()
            return answer.message

        yield ask
        tasks.cancel_scope.cancel()


async def prepared(request: str, protection: str, ask: Ask) -> Call:
    """Return a call of the request, once what it says is seen to be so."""
    params: dict[str, Any] = {"name": request, "arguments": ARGUMENTS}

    async def result() -> dict[str, Any]:
        answer: Any = await ask("tools/call", params)
        if not hasattr(answer, "result") or answer.result.get("isError"):
            raise ValueError(f"{request}, {protection}: {answer}")
        return answer.result

    if request == "state":
        token = (await result())["requestState"]
        assert token.startswith("{") == (protection == "none")
        if protection != "none":
            params["requestState"] = f"{token}!"
            logging.disable()
            refused: Any = await ask("tools/call", params)
            logging.disable(logging.NOTSET)
            assert refused.error.code == -32602
        params["requestState"] = token
    if request == "session":
        held = {"sessionId": "clear", "state": COMPACT}
        if protection == "guard":
            created: Any = await ask("sessions/create", {})
            held = created.result["session"]
        params["_meta"] = {SESSION: {name: held[name] for name in ("sessionId", "state")}}
        assert (await result())["_meta"][SESSION]["state"] != held["state"]

    async def call() -> None:
        await result()

    return call


async def by_turns(sides: dict[str, Call], warm_ns: int, turns: int) -> dict[str, list[float]]:
    """Let the sides work by turns, each turn another first; return the nanoseconds for one call of each, by turn.

    What this process works, not what passes: the machine may have more to do.
    """
    calls = {}
    for name, side in sides.items():
        made, start = 0, process_time_ns()
        while process_time_ns() - start < warm_ns:
            await side()
            made += 1
        calls[name] = max(1, made * TURN_NS // warm_ns)
    times: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for turn in range(turns):
        first = turn // 2 % len(names)
        order = names[first:] + names[:first]
        # What one leaves behind is not always the same one's to clear.
        for name in order if turn % 2 == 0 else reversed(order):
            start = process_time_ns()
            for _ in range(calls[name]):
                await sides[name]()
            times[name].append((process_time_ns() - start) / calls[name])
    return times


async def main() -> None:
    quick = sys.argv[1:] == ["quick"]
    warm_ns, turns = (100_000_000, 40) if quick else (500_000_000, 200)
    for make in (mcpserver, lowlevel, fastmcp):
        for request in ("plain", "state", "session"):
            print(f"python {make.__name__} {request}", file=sys.stderr)
            protections: dict[str, Clear] = {"none": Clear(), "codec": Boundary()}
            protections["guard"] = Ours(sessions=request == "session")
            if request == "session":
                del protections["codec"]
            sides = {}
            async with AsyncExitStack() as stack:
                for name, protection in protections.items():
                    server = make(protection)
                    protection.install(server)
                    ask = await stack.enter_async_context(connected(server))
                    sides[name] = await prepared(request, name, ask)
                gc.collect()
                times = await by_turns(sides, warm_ns, turns)
            row = {"language": "python", "server": make.__name__, "request": request, "turns": times}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    anyio.run(main)

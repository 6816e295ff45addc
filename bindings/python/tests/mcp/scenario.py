"""The scenario server of this language, as tests/driver/run.py defines it."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import itertools
import json
import logging
import socket
import sys
import tracemalloc
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import environment
import uvicorn
from live import Live

import sealwax
from sealwax.ledger import Memory
from sealwax.mcp import (
    Guard,
    HandleRefused,
    LedgerUnavailable,
    LinkRefused,
    Principal,
    Refusal,
    TokenEvent,
)
from sealwax.mcp._handler.exchange import exchange_of
from sealwax.mcp._sdk_types import IS_SECOND, MCPError

if TYPE_CHECKING or IS_SECOND:
    import second as sdk
else:
    import first as sdk

if TYPE_CHECKING:
    from sealwax.ledger import Command


def say(**said: Any) -> None:
    print(json.dumps(said), flush=True)


def stop_clock(now: int) -> None:
    environment._preloaded.environment_stop_clock(now * 1000)


class Stage:
    """A server of one kind, and its guard, with the settings of one transcript."""

    who: Any = None
    method: str | None = None

    def __init__(self, told: dict[str, Any]) -> None:
        settings = told["settings"]
        kind, options = settings.get("ledger"), settings.get("ledgerOptions", {})
        self.ledger = None if kind is None else ScriptedLedger(told["now"], kind, options)
        self.guard = Guard(
            codec=sealwax.Codec(keys=told["keys"], audience=told["audience"]),
            principal="anonymous" if told["anonymous"] else self._principal,
            on_refused=refused,
            on_event=happened,
            ledger=self.ledger,
            ledger_options=None if self.ledger is None else self.ledger.options,
            request_state_ttl=settings.get("requestStateTtl"),
            confirm_ttl=settings.get("confirmTtl"),
            only=settings.get("only"),
        )
        for tool, facts in settings.get("confirm", {}).items():
            self._confirm(tool, **facts)
        match settings.get("confirmDestructive"):
            case True:
                self.guard.confirm_destructive()
            case {"fallback": fallback}:
                self.guard.confirm_destructive(fallback=fallback)
        #: The pages of the server's own list, by their cursors.
        self._tools = settings.get("tools")
        self._sessions = self._with_sessions(settings.get("sessions"))
        self._transport = dict(settings.get("transport", {}))
        if "onLost" in self._transport:
            self._transport["on_lost"] = self._transport.pop("onLost")
        self.served = sdk.Served(self.guard, told["system"], self._transport, self._handle)
        self._stack, self.apps = AsyncExitStack(), dict[str, Any]()

    def _confirm(
        self, tool: str, message: str | None = None, words: Any = None, fallback: Any = "refuse"
    ) -> None:
        if message is not None:
            self.guard.confirm(tool, message, fallback=fallback)
            return

        @self.guard.confirm(tool, fallback=fallback)
        async def _(**_given: Any) -> Any:
            say(asked="confirm")
            if words is None:
                raise ValueError("the question's function raises")
            return words

    def _with_sessions(self, settings: dict[str, Any] | None) -> Any:
        if settings is None:
            return None
        held = settings.get("heldByServer", False)

        def initial(_ctx: Any) -> Any:
            say(asked="begin")
            return settings["initial"]

        return self.guard.sessions(
            initial=None if held else initial,
            ttl=settings.get("ttl"),
            no_expiry=settings.get("noExpiry", False),
            required=settings.get("required"),
            held_by_server=held,
        )

    def _principal(self, _ctx: Any) -> Any:
        say(asked="principal")
        if self.who == "thrower":
            raise ValueError(self.who)
        return None if self.who is None else Principal(**self.who)

    async def open(self) -> None:
        """Serve over HTTP, within the guard's wrapper and without."""
        self.apps = await self.served.open(self._stack)

    async def close(self) -> None:
        await self._stack.aclose()

    async def _handle(self, ctx: Any, method: str, params: Any, more: dict[str, Any]) -> Any:
        """Do what is told, and say what the request holds; `more` has every result."""
        if method != self.method:
            if self._tools is not None and not self._is_served(ctx):
                # The guard asks.
                return {**more, **self._tools[params.get("cursor") or ""]}
            # The SDK's HTTP looks for headers in the schemas of tools. One of results changes
            # nothing for the guard.
            schema = {"type": "object"}
            tool = {"name": "play", "inputSchema": schema, "outputSchema": schema}
            return {**more, "tools": [tool]}
        session = self._session(ctx)
        seen = {"state": self._state(ctx, method), "cursor": params.get("cursor")}
        told = waiting(**seen, session=session, arguments=params.get("arguments"))
        async for one in told:
            if one["do"] == "throw":
                raise MCPError(-32000, "the handler's own")
            if one["do"] == "return":
                return {**more, **self._with_states(ctx, one["result"])}
            say(done=await self._did(ctx, one["do"], one["given"], one["options"]))

    def _is_served(self, ctx: Any) -> bool:
        """Return whether the request came through the guard."""
        try:
            return exchange_of(self.guard, ctx) is not None
        except sealwax.InvalidArgument:
            return False

    def _state(self, ctx: Any, method: str) -> Any:
        """Return the state that came, as its text."""
        if ctx is None or method not in ("tools/call", "prompts/get", "resources/read"):
            return None
        return exchange_of(self.guard, ctx).state()

    def _session(self, ctx: Any) -> Any:
        session = None if self._sessions is None else self._sessions.of(ctx)
        return session and {"value": session.value, "generation": session.generation}

    def _with_states(self, ctx: Any, value: Any) -> Any:
        """Return a result with what an author gets for each state that it names."""
        if isinstance(value, list):
            return [self._with_states(ctx, one) for one in value]
        if not isinstance(value, dict):
            return value
        if "$state" in value:
            return self.guard.state(ctx, value["$state"])
        return {name: self._with_states(ctx, one) for name, one in value.items()}

    async def _did(self, ctx: Any, name: str, given: list[Any], options: dict[str, Any]) -> Any:
        try:
            return await self._operate(ctx, name, given, options)
        except HandleRefused as refused:
            return {"refused": True} if refused.error.code == -32602 else {"failed": True}
        except LinkRefused as refused:
            return {"refused": True} if refused.status == 404 else {"failed": True}
        except sealwax.SealwaxError as error:
            return {"error": error.code}

    async def _operate(self, ctx: Any, name: str, given: list[Any], options: Any) -> Any:
        if name == "state":
            return exchange_of(self.guard, ctx).state()
        if name == "idempotencyKey":
            return self.guard.idempotency_key(ctx)
        if name == "sessionId":
            return self.guard.session_id(ctx)
        if name == "session":
            return self._session(ctx)
        if name == "write":
            self._sessions.of(ctx).write(*given)
            return "ok"
        if name == "fork":
            return self._sessions.of(ctx).fork()
        options.pop("as", None)
        if name == "link":
            return {"handle": await self.guard.links(given[0], **options).seal(ctx, given[1])}
        if name == "follow":
            return await self._follow(*given, **options)
        if name == "cursor":
            return {"handle": await self.guard.cursor(ctx, given[0], **options)}
        if name == "position":
            return {"position": await self.guard.position(ctx, **options)}
        max_age, single_use = options.get("maxAge"), options.get("once", False)
        rows = partial(self.guard.reference_handles, max_age=max_age)
        held = self.guard.self_contained_handles(given[0], max_age=max_age, single_use=single_use)
        if name == "end":
            await (held if options.get("selfContained") else rows(given[0])).end(ctx, given[1])
            return "ok"
        if name == "open":
            opened = await held.open(ctx, given[1])
            return {"value": opened.value, "generation": opened.opened.generation}
        if name == "mintShort":
            return {"handle": await rows(given[0]).mint_short(ctx, given[1])}
        if name == "checkShort":
            return {"value": await rows(given[0]).check_short(ctx, given[1])}
        if name == "renew":
            made: Any = await held.renew(ctx, await held.open(ctx, given[1]), given[2])
        else:
            of: Any = held if name == "seal" else rows(given[0])
            made = await getattr(of, name)(ctx, *given[1:])
        return {"handle": made.handle}

    async def _follow(self, name: str, link: Any, *, keep: bool = False, **by: Any) -> Any:
        for option, user in by.items():
            by[option] = "anonymous" if "anonymous" in user else Principal(**user)
        found = await self.guard.links(name).open(link, consume=not keep, **by)
        return {"value": found.value, "principal": _members(found.principal)}


def _members(principal: Any) -> Any:
    if principal == "anonymous":
        return {"anonymous": True}
    return {name: part for name, part in principal._asdict().items() if part is not None}


def refused(refusal: Refusal) -> None:
    say(reported={"code": refusal.code, "kind": refusal.kind})


def happened(event: TokenEvent) -> None:
    parts = (event.event, event.kind, event.key_id, event.age)
    say(happened=" ".join(str(part) for part in parts if part is not None))


class ScriptedLedger:
    """The package's own in memory, whose answers may be lost."""

    def __init__(self, now: int, kind: str, options: dict[str, Any]) -> None:
        self._fails, self._lost = kind == "failing", dict[str, int]()
        stop_clock(now - options.get("since", 3600))
        self._memory = Memory()
        stop_clock(now)
        self.local = options.get("local", True)
        since = options.get("acceptIssuedSince")
        given = {
            "clock_tolerance": options.get("clockTolerance"),
            "accept_issued_since": None if since is None else now - since,
            "reusable_request_state": options.get("reusableRequestState"),
        }
        self.options: Any = {name: value for name, value in given.items() if value is not None}

    def before(self, told: dict[str, Any]) -> None:
        if told.get("forgets"):
            self._memory = Memory()
        self._lost.update(told.get("lost", {}))

    async def run(self, command: Command, /) -> list[str]:
        script = command["script"]
        # When it is opened is the SDK's.
        if script != "open":
            say(commands=script)
            if self._fails:
                raise ConnectionError("the store is down")
        reply = await self._memory.run(command)
        if self._lost.get(script):
            self._lost[script] -= 1
            raise ConnectionError("the answer is lost")
        return reply


numbers = itertools.count()
#: What the handlers that wait are told.
handlers = dict[int, "asyncio.Queue[dict[str, Any]]"]()


class Mallinfo2(ctypes.Structure):
    """What glibc tells of its heap; the eighth is how much is in use."""

    _fields_ = [(f"n{at}", ctypes.c_size_t) for at in range(10)]


def heap() -> dict[str, int]:
    """Return how much of both heaps is in use; of Python's, since it was first asked."""
    tracemalloc.start()
    gc.collect()
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo2
    return {"native": mallinfo2().n7, "Python": tracemalloc.get_traced_memory()[0]}


async def waiting(**seen: Any) -> Any:
    number = next(numbers)
    handlers[number] = asyncio.Queue()
    say(handler={"id": number, **seen})
    try:
        while True:
            yield await handlers[number].get()
    finally:
        del handlers[number]


async def main() -> None:
    logging.disable()
    live = Live(setattr)
    stage: Stage | None = None

    async def over_http(scope: Any, receive: Any, send: Any) -> None:
        assert stage is not None
        await stage.apps[scope["path"]](scope, receive, send)

    def on(name: str) -> Any:
        async def serve(reader: Any, writer: Any) -> None:
            assert stage is not None
            await getattr(stage.served, f"on_{name}")(reader, writer)
            writer.close()

        return serve

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(over_http, lifespan="off", log_level="critical"))
    serving = asyncio.create_task(server.serve([listening]))
    sockets = {one: await asyncio.start_server(on(one), "127.0.0.1", 0) for one in sdk.STREAMS}
    ports = {name: one.sockets[0].getsockname()[1] for name, one in sockets.items()}
    say(http=listening.getsockname()[1], **ports, **sdk.READY, events=True)
    async for line in anyio.wrap_file(sys.stdin):
        told = json.loads(line)
        done: Any = None
        if "to" in told:
            handlers[told["to"]].put_nowait(told)
            continue
        if "now" in told:
            stop_clock(told["now"])
        if told["do"] == "serve":
            if stage is not None:
                await stage.close()
                # Whatever was served, all of it is over.
                await live.expect()
            stage = Stage(told)
            await stage.open()
        elif told["do"] == "at":
            assert stage is not None
            stage.who, stage.method = told["who"], told["method"]
            if stage.ledger is not None:
                stage.ledger.before(told)
        elif told["do"] == "keys":
            assert stage is not None
            stage.guard.codec.set_keys(told["keys"])
        elif told["do"] == "heap":
            done = heap()
        elif told["do"] == "revoke":
            assert stage is not None
            done = await revoked(stage.guard, told["whom"])
        else:
            assert told["do"] == "settle"
            # What the handler of a notification does is waited for by nobody.
            for _ in range(50):
                await asyncio.sleep(0)
        say(done=done)
    if stage is not None:
        await stage.close()
    server.should_exit = True
    await serving


async def revoked(guard: Guard, whom: dict[str, Any]) -> bool:
    try:
        await guard.revoke(Principal(**whom))
    except LedgerUnavailable:
        return False
    return True


if __name__ == "__main__":
    asyncio.run(main())

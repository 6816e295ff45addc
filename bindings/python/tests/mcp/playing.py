"""Plays the events of a transcript on a real server, behind its guard."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import mcp_types as types
import wire
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import jsonrpc_message_adapter
from remembering import Remembering
from world import World, codec, principal

import sealwax
from sealwax.mcp import Guard, HandleRefused, Presented, Refusal
from sealwax.mcp._handler.exchange import exchange_of
from sealwax.mcp._handler.servers import low_level
from sealwax.mcp._transport.message import Transport
from sealwax.mcp._transport.stdio import serve

if TYPE_CHECKING:
    from typing_extensions import Self

MODERN, LEGACY = "2026-07-28", "2025-11-25"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
CACHED = {"cacheScope": "private", "ttlMs": 0}
PARAMS: dict[str, Any] = {
    "tools/call": types.CallToolRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "tools/list": types.PaginatedRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "demo/play": types.RequestParams,
    "demo/things/list": types.RequestParams,
}
MAKERS: dict[str, Any] = {"mcpserver": MCPServer, "lowlevel": Server, "fastmcp": FastMCP}
WAIT = 60


@dataclass
class Found:
    """The outcome of an event."""

    event: dict[str, Any]
    #: The message, for what is echoed.
    sent: dict[str, Any]
    asked: list[str] = field(default_factory=list)
    #: Whether each token that `accept` got belongs to no principal.
    anybodys: list[bool] = field(default_factory=list)
    delivered: dict[str, Any] | None = None
    did: list[Any] = field(default_factory=list)
    answered: dict[str, Any] | None = None
    reported: list[dict[str, str]] = field(default_factory=list)


class Playing:
    """A server of one kind with the settings of one transcript."""

    def __init__(self, system: str, transcript: dict[str, Any]) -> None:
        settings = transcript["settings"]
        self.world, self.found = World(), Found({}, {})
        self._stack, self._ways = AsyncExitStack(), dict[Any, Any]()
        self._accepts = settings.get("accept")
        self._once = Remembering()
        people = {event["as"] for event in transcript["events"]}
        self._guard = Guard(
            codec=codec({"key": "both"}),
            principal="anonymous" if people == {"anonymous"} else self._principal,
            on_refused=self._refused,
            accept=None if self._accepts is None else self,
            request_state_ttl=settings.get("requestStateTtl"),
            only=settings.get("only"),
        )
        self._anonymous = people == {"anonymous"}
        self._sessions = self._with_sessions(settings.get("sessions"))
        self._transport = settings.get("transport", {})
        self._server = MAKERS[system]("play")
        self._low = low_level(self._server)
        for method, params in PARAMS.items():
            self._low.add_request_handler(method, params, self._handle)
        noted: Any = types.NotificationParams
        self._low.add_notification_handler("notifications/demo", noted, self._handle)
        self._guard.protect(self._server)
        self._low.middleware.append(self._seen)

    def _with_sessions(self, settings: dict[str, Any] | None) -> Any:
        if settings is None:
            return None
        held = settings.get("heldByServer", False)

        def initial(_ctx: Any) -> Any:
            self.found.asked.append("begin")
            return settings["initial"]

        return self._guard.sessions(
            initial=None if held else initial,
            ttl=settings.get("ttl"),
            no_expiry=settings.get("noExpiry", False),
            required=settings.get("required"),
            held_by_server=held,
        )

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(self, *told: Any) -> Any:
        self._tasks.cancel_scope.cancel()
        return await self._stack.__aexit__(*told)

    # What the guard asks.

    def _principal(self, _ctx: Any) -> Any:
        self.found.asked.append("principal")
        who = self.found.event["as"]
        if who == "thrower":
            raise ValueError(who)
        return principal(who)

    def _refused(self, refusal: Refusal) -> None:
        self.found.reported.append({"code": refusal.code, "kind": refusal.kind})

    def accept(self, presented: Presented) -> bool:
        self.found.asked.append(f"accept {presented.kind}")
        self.found.anybodys.append(presented.principal is None and not self._anonymous)
        if self._accepts == "fails":
            raise OSError(self._accepts)
        return self._accepts != "no" and (self._accepts == "yes" or self._once.accept(presented))

    def ended(self, presented: Presented) -> None:
        self.found.asked.append(f"end {presented.kind}")
        if self._accepts == "fails":
            raise OSError(self._accepts)
        self._once.ended(presented)

    # What the server does.

    async def _seen(self, ctx: Any, call_next: Any) -> Any:
        """Record a message that the guard delivered."""
        found = self.found
        if ctx.method == found.sent.get("method"):
            params = ctx.params or {}
            session = None if self._sessions is None else self._sessions.of(ctx)
            found.delivered = {
                "state": params.get("requestState"),
                "cursor": params.get("cursor"),
                "session": self._told(session),
            }
        return await call_next(ctx)

    def _told(self, session: Any) -> Any:
        if session is None:
            return None
        return {"value": session.value, "generation": session.generation}

    async def _handle(self, ctx: Any, _params: Any) -> Any:
        for operation in self.found.event.get("handler", ()):
            if operation[0] == "return":
                return {
                    **_demanded(ctx),
                    **self.world.resolved(self._with_states(ctx, operation[1])),
                }
            if operation[0] == "throw":
                raise MCPError(-32000, "the handler's own")
            self.found.did.append(await self._did(ctx, operation))
        return {}

    def _with_states(self, ctx: Any, value: Any) -> Any:
        """Return a result with what an author gets for each state that it names."""
        if isinstance(value, list):
            return [self._with_states(ctx, one) for one in value]
        if not isinstance(value, dict):
            return value
        if "$state" in value:
            return self._guard.write_state(ctx, value["$state"])
        return {name: self._with_states(ctx, one) for name, one in value.items()}

    async def _did(self, ctx: Any, operation: list[Any]) -> Any:
        try:
            return await self._operate(ctx, *operation)
        except HandleRefused as refused:
            return {"refused": True} if refused.error.code == -32602 else {"failed": True}
        except sealwax.SealwaxError as error:
            return {"error": error.code}

    async def _operate(self, ctx: Any, name: str, *given: Any) -> Any:
        if name == "state":
            return exchange_of(self._guard, ctx).state()
        if name in ("session", "write", "fork"):
            session = self._sessions.of(ctx)
            if name == "session":
                return self._told(session)
            return session.fork() if name == "fork" else session.write(*given) or "ok"
        options = given[-1] if isinstance(given[-1], dict) and len(given) > 1 else {}
        return await self._handled(ctx, name, given, options)

    async def _handled(self, ctx: Any, name: str, given: Any, options: dict[str, Any]) -> Any:
        rows = partial(self._guard.reference_handles, max_age=options.get("maxAge"))
        held = self._guard.self_contained_handles(given[0])
        handle: Any = self.world.resolved(given[1]) if len(given) > 1 else None
        made: Any
        if name == "mint":
            made = await rows(given[0]).mint(ctx)
        elif name == "check":
            made = await rows(given[0]).check(ctx, handle)
        elif name == "seal":
            made = await held.seal(ctx, handle)
        elif name == "renew":
            made = await held.renew(ctx, await held.open(ctx, handle), given[2])
        elif name == "open":
            opened = await held.open(ctx, handle)
            return {"value": opened.value, "generation": opened.opened.generation}
        else:
            assert name == "end"
            await (held if options.get("held") else rows(given[0])).end(ctx, handle)
            return "ok"
        if "as" in options:
            self.world.handles[options["as"]] = made.handle
        return {"handle": made.handle}

    # What a client does.

    async def play(self, event: dict[str, Any]) -> Found:
        message = self.world.resolved(event["message"]) or {}
        self.found = Found(event, message)
        if message and "result" not in message and not event.get("notification"):
            message.setdefault("id", 1)
        over_http = event["via"] == "http" or "header" in event
        client: Any = await self._client(wrapped=event["via"] == "http") if over_http else None
        with anyio.fail_after(WAIT):
            if over_http:
                answered = await self._over_http(client, event, message)
                if event["via"] != "http":
                    answered = answered["message"]
            elif event["via"] == "stdio":
                answered = await self._on_stdio(message)
            else:
                answered = await self._by_stream(event, message)
        self.found.answered = answered
        return self.found

    def _framed(self, message: dict[str, Any], *, modern: bool) -> dict[str, Any]:
        framed = {"jsonrpc": "2.0", **message}
        if modern:
            params = message.get("params", {})
            framed["params"] = {**params, "_meta": {**params.get("_meta", {}), **ENVELOPE}}
        return framed

    async def _over_http(
        self, client: httpx2.AsyncClient, event: dict[str, Any], message: dict[str, Any]
    ) -> dict[str, Any]:
        modern = event["era"] == "modern"
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **self.world.resolved(event.get("headers", {})),
        }
        if "header" in event:
            headers["Mcp-Session-Id"] = self.world.resolved(event["header"])
            headers["MCP-Protocol-Version"] = MODERN if modern else LEGACY
        if modern:
            headers |= {"Mcp-Method": message["method"], "Mcp-Name": message["params"]["name"]}
        content = json.dumps(self._framed(message, modern=modern)) if message else None
        response = await client.request(
            event.get("http", "POST"), "/mcp", headers=headers, content=content
        )
        answered: dict[str, Any] = {"status": response.status_code}
        answered["headers"] = dict(response.headers)
        # FastMCP says in plain text which methods of HTTP it has.
        if response.content and not response.headers["content-type"].startswith("text/plain"):
            answered["message"] = _told(wire.told(response.text))
        return answered

    async def _client(self, *, wrapped: bool) -> httpx2.AsyncClient:
        way = f"http {wrapped}"
        if way not in self._ways:
            make = getattr(self._server, "http_app", None) or self._server.streamable_http_app
            app = make(stateless_http=True)
            if wrapped:
                app = self._guard.asgi(app, **self._transport)
            await self._stack.enter_async_context(app.router.lifespan_context(app))
            self._ways[way] = await self._stack.enter_async_context(
                httpx2.AsyncClient(
                    transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1:8000"
                )
            )
        client: httpx2.AsyncClient = self._ways[way]
        return client

    async def _by_stream(self, event: dict[str, Any], message: dict[str, Any]) -> Any:
        # The SDK knows no ping in the newest revision.
        modern = event["era"] == "modern" and message["method"] != "ping"
        if modern not in self._ways:
            self._ways[modern] = await self._begun(modern=modern)
        sends, hears = self._ways[modern]
        framed = self._framed(message, modern=modern)
        await sends.send(SessionMessage(jsonrpc_message_adapter.validate_python(framed)))
        if "id" not in message:
            await self._served()
            return None
        return await self._heard(hears)

    async def _begun(self, *, modern: bool) -> Any:
        to_server, reads = anyio.create_memory_object_stream[Any](8)
        writes, from_server = anyio.create_memory_object_stream[Any](8)
        options = self._low.create_initialization_options()
        self._tasks.start_soon(self._low.run, reads, writes, options)
        found, self.found = self.found, Found({"as": "alice"}, {})
        info = {"name": "client", "version": "1"}
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info}
        begin: list[dict[str, Any]] = [
            {"id": 0, "method": "initialize", "params": params},
            {"method": "notifications/initialized"},
        ]
        for one in [{"id": 0, "method": "server/discover"}] if modern else begin:
            framed = self._framed(one, modern=modern)
            await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_python(framed)))
        await self._heard(from_server)
        self.found = found
        return to_server, from_server

    async def _heard(self, hears: Any) -> dict[str, Any]:
        item = await hears.receive()
        return _told(item.message.model_dump(by_alias=True, mode="json", exclude_unset=True))

    async def _served(self) -> None:
        """Wait until a notification was served, or dropped."""
        for _ in range(20):
            await anyio.wait_all_tasks_blocked()

    async def _on_stdio(self, message: dict[str, Any]) -> Any:
        if "stdio" not in self._ways:
            to_server, reads = anyio.create_memory_object_stream[str](8)
            writes, from_server = anyio.create_memory_object_stream[str](8)
            transport = Transport(
                self._guard,
                self._guard._engines,
                required=False,
                ttl=self._transport.get("ttl"),
                sep1359=True,
            )
            lines = Lines(reads, writes)
            self._tasks.start_soon(serve, self._low, transport, lines, lines)
            self._ways["stdio"] = to_server, from_server
        sends, hears = self._ways["stdio"]
        modern = self.found.event["era"] == "modern"
        await sends.send(json.dumps(self._framed(message, modern=modern)) + "\n")
        if self.found.event["answered"] is None:
            await self._served()
            return hears.receive_nowait() if hears.statistics().current_buffer_used else None
        return _told(json.loads(await hears.receive()))


def _demanded(ctx: Any) -> dict[str, Any]:
    """Return what every result has in the newest revision."""
    if ctx.protocol_version != MODERN:
        return {}
    cached = {} if ctx.method in ("tools/call", "prompts/get") else CACHED
    return {"resultType": "complete", **cached}


def _told(message: dict[str, Any]) -> dict[str, Any]:
    """Return what a message says, without what the SDK says of the server in each."""
    told: dict[str, Any] = {name: message[name] for name in ("result", "error") if name in message}
    meta = told.get("result", {}).get("_meta", {})
    meta.pop("io.modelcontextprotocol/serverInfo", None)
    if not meta:
        told.get("result", {}).pop("_meta", None)
    return told


class Lines:
    """Two streams of lines, as the files that stdio has."""

    def __init__(self, reads: Any, writes: Any) -> None:
        self._reads, self._writes = reads, writes

    async def readline(self) -> str:
        try:
            line: str = await self._reads.receive()
        except anyio.EndOfStream:
            return ""
        return line

    async def write(self, text: str) -> None:
        await self._writes.send(text)

    async def flush(self) -> None:
        """Nothing to do."""

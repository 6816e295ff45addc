"""Plays the events of a transcript on a real server, behind its guard."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import mcp_types as types
import wire
from environment import at
from fastmcp import FastMCP
from matching import compare
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import jsonrpc_message_adapter
from remembering import Remembering
from scripted_handler import MODERN, Found, Script
from scripted_ledger import ScriptedLedger
from world import World, codec, principal

from sealwax.mcp import AcceptUnavailable, Guard, Presented, Refusal
from sealwax.mcp._handler.servers import low_level
from sealwax.mcp._transport.message import Transport
from sealwax.mcp._transport.stdio import serve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

LEGACY = "2025-11-25"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
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


class Playing(Script):
    """A server of one kind with the settings of one transcript."""

    def __init__(self, system: str, transcript: dict[str, Any]) -> None:
        settings = transcript["settings"]
        self.world, self.found = World(), Found({}, {})
        self._stack, self._ways = AsyncExitStack(), dict[Any, Any]()
        #: How many requests on streams are being served.
        self._streaming = 0
        self._accepts = settings.get("accept")
        self._once = Remembering()
        people = {event["as"] for event in transcript["events"]}
        kind, options = settings.get("ledger"), settings.get("ledgerOptions", {})
        self._ledger = None if kind is None else ScriptedLedger(self, kind, options)
        self._guard = Guard(
            codec=codec({"key": "both"}),
            principal="anonymous" if people == {"anonymous"} else self._principal,
            on_refused=self._refused,
            accept=None if self._accepts is None else self,
            ledger=self._ledger,
            ledger_options=None if self._ledger is None else self._ledger.options,
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

    # What a client does.

    async def play(self, events: Sequence[dict[str, Any]]) -> None:
        """Play events, each held to what it says."""
        for event in events:
            outer = self.found
            try:
                compare(self.world, event, await self._found(event))
            finally:
                self.found = outer

    async def _found(self, event: dict[str, Any]) -> Found:
        self.world.now += event.get("after", 0)
        self._stack.enter_context(at(self.world.now * 1000))
        if self._ledger is not None:
            self._ledger.before(event)
        message = self.world.resolved(event["message"]) or {}
        self.found = found = Found(event, message)
        if message and "result" not in message and not event.get("notification"):
            message.setdefault("id", 1)
        over_http = event["via"] == "http" or "header" in event
        client: Any = await self._client(wrapped=event["via"] == "http") if over_http else None
        with anyio.fail_after(WAIT):
            found.answered = await self._answered(event, message, client)
        return found

    async def _answered(self, event: dict[str, Any], message: dict[str, Any], client: Any) -> Any:
        if event["via"] == "operator":
            return await self._revoked(event["revoke"])
        if event["via"] == "stdio":
            return await self._on_stdio(message)
        if client is not None:
            answered = await self._over_http(client, event, message)
            return answered if event["via"] == "http" else answered["message"]
        return await self._by_stream(event, message)

    async def _revoked(self, who: str) -> dict[str, bool]:
        whom = principal(who)
        assert whom is not None
        try:
            await self._guard.revoke(whom)
        except AcceptUnavailable:
            return {"done": False}
        return {"done": True}

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
        # What happens during a request has a stream of its own.
        way = modern, self._streaming
        if way not in self._ways:
            self._ways[way] = await self._begun(modern=modern)
        sends, hears = self._ways[way]
        framed = self._framed(message, modern=modern)
        await sends.send(SessionMessage(jsonrpc_message_adapter.validate_python(framed)))
        if "id" not in message:
            await self._served()
            return None
        self._streaming += 1
        try:
            return await self._heard(hears)
        finally:
            self._streaming -= 1

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
                idle=self._transport.get("idle"),
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

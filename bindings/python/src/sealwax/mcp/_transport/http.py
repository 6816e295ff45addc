"""HTTP: requests as the engine reads them, and their answers as it changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ... import InvalidArgument
from ..._cause import named
from ..._engine import OTHER
from .._sdk_types import MCP_PROTOCOL_VERSION_HEADER
from .exchange import SCOPE_KEY, TransportExchange, context

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ..._documents import DeliverStep, Step
    from .exchange import Transport

_OF_REQUESTS = (MCP_PROTOCOL_VERSION_HEADER, MCP_SESSION_ID_HEADER, "content-encoding")
_OF_ANSWERS = ("content-type", MCP_SESSION_ID_HEADER)


def install(app: Any, transport: Transport, *, limit: int) -> Any:
    """Wrap an endpoint: inside of the authentication, if an SDK made the app."""
    if not isinstance(app, Starlette):
        return SessionsOverHttp(app, transport, limit)
    found = endpoints(app)
    if len(found) != 1:
        raise InvalidArgument(
            f"app: expected what streamable_http_app() or http_app() gives, with one endpoint of "
            f"MCP, found {len(found)}: wrap it before it is mounted, and once"
        )
    ((holder, endpoint),) = found
    holder.app = SessionsOverHttp(endpoint, transport, limit)
    return app


def endpoints(app: Starlette) -> list[tuple[Any, Any]]:
    """Return the endpoints of MCP in an application of an SDK, inside of their authentication."""
    found = []
    for route in app.routes:
        holder: Any = route
        endpoint: Any = getattr(route, "app", None)
        while isinstance(endpoint, RequireAuthMiddleware):
            holder, endpoint = endpoint, endpoint.app
        if hasattr(endpoint, "session_manager"):
            found.append((holder, endpoint))
    return found


class SessionsOverHttp:
    """The ASGI application in front of a stateless server's endpoint."""

    def __init__(self, app: ASGIApp, transport: Transport, limit: int) -> None:
        self._app, self._transport, self._limit = app, transport, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = _values(scope["headers"], _OF_REQUESTS)
        engine, step = self._transport.engine.http(scope["method"], *headers)
        exchange = TransportExchange(self._transport.config, engine, Request(scope))
        try:
            await self._serve(exchange, step, scope, receive, send)
        finally:
            exchange.close()

    async def _serve(
        self, exchange: TransportExchange, step: Step, scope: Scope, receive: Receive, send: Send
    ) -> None:
        engine, body = exchange.engine, None
        step = await exchange.drive(step)
        if step["step"] == "ask":
            try:
                body = await self._body(scope, receive)
            except ClientDisconnect:
                return
            exchange.caller.ctx = context(Request(scope), body or b"")
            step = await exchange.drive(engine.body(body))
        if step["step"] != "deliver":
            await _response(step, engine.beside)(scope, receive, send)
            return
        headers = MutableHeaders(raw=[*scope["headers"]])
        if engine.beside is not None:
            body = engine.beside
            headers["content-length"] = str(len(body))
        if version := step.get("version"):
            headers[MCP_PROTOCOL_VERSION_HEADER] = version
        scope = {**scope, "headers": headers.raw}
        if exchange.continues:
            scope[SCOPE_KEY] = exchange
        answer = _Answer(exchange, step, scope, receive, send)
        try:
            await self._app(scope, receive if body is None else _given(body, receive), answer.send)
        except Exception as error:
            if not answer.begun:
                why = f"handler: expected a response, found {named(error)}"
                step = await exchange.drive(engine.on({"broke": why}))
                await _response(step, engine.beside)(scope, receive, send)
            raise

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Read a body; ``None`` if it is too large."""
        body = bytearray()
        async for part in Request(scope, receive).stream():
            body += part
            if len(body) > self._limit:
                return None
        return bytes(body)


class _Answer:
    """The answer of the server, which may change on its way."""

    def __init__(
        self,
        exchange: TransportExchange,
        step: DeliverStep,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        self._exchange, self._scope, self._receive, self._send = exchange, scope, receive, send
        self._reports = bool(step.get("report"))
        self._may_change = self._reports or bool(step.get("addSessionId"))
        self._changes = False
        self._start: Message | None = None
        #: Whether anything of it was sent.
        self.begun = False

    async def send(self, part: Message) -> None:
        """Send a part of it."""
        if self._may_change and part["type"] == "http.response.start":
            headers = MutableHeaders(raw=[*part.get("headers", ())])
            given = part["status"], *_values(headers.raw, _OF_ANSWERS)
            self._changes = self._exchange.engine.answer(*given)
            if self._changes:
                del headers["content-length"]
                part = {**part, "headers": headers.raw}
                if self._reports:
                    self._start = part
                    return
        elif self._changes and part["type"] == "http.response.body":
            await self._body(part)
            return
        self.begun = True
        await self._send(part)

    async def _body(self, part: Message) -> None:
        engine, more = self._exchange.engine, part.get("more_body", False)
        body = engine.piece(part.get("body", b""))
        if not more:
            step = await self._exchange.drive(engine.answered())
            self.begun = True
            if step["step"] != "respond":
                await _response(step, engine.beside)(self._scope, self._receive, self._send)
                return
            body += engine.beside or b""
            if self._start is not None:
                headers = MutableHeaders(raw=self._start["headers"])
                headers.update(step.get("headers") or {})
                await self._send(self._start)
        if body or not more:
            await self._send({**part, "body": body})


def _values(headers: Any, names: tuple[str, ...]) -> list[bytes | None]:
    """Return the values of headers; of one that is there several times, what is no text."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        lower = name.lower()
        found[lower] = OTHER if lower in found else value
    return [found.get(name.encode()) for name in names]


def _given(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body once more."""
    parts: list[Message] = [{"type": "http.request", "body": body}]

    async def given() -> Message:
        return parts.pop() if parts else await receive()

    return given


def _response(step: Any, body: bytes | None) -> Response:
    """Return the response to a message that is answered here."""
    headers = {"Allow": step["allow"]} if step.get("allow") else {}
    return Response(body, step["status"], headers, "application/json" if body else None)

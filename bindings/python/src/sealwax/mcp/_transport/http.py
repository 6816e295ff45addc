"""Sessions of revisions up to 2025-11-25 over HTTP: ``Mcp-Session-Id`` and SEP-1359."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response

from ... import InvalidArgument
from .._hooks import report_error
from .._sdk import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    MCP_PROTOCOL_VERSION_HEADER,
    RequestBodyLimitMiddleware,
)
from .._sdk_json import read_message
from .events import Events
from .message import SCOPE_KEY, TransportExchange, change, put_session, take_session

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ..._documents import Step
    from ..._engine import Facts
    from .message import Transport

_HEADER = MCP_SESSION_ID_HEADER


def install(app: Any, transport: Transport, *, limit: int) -> Any:
    """Wrap an endpoint: inside of the authentication, if an SDK made the app."""
    if not isinstance(app, Starlette):
        return SessionsOverHttp(app, transport, limit)
    found = endpoints(app)
    for holder, endpoint in found:
        holder.app = SessionsOverHttp(endpoint, transport, limit)
    if len(found) != 1:
        raise InvalidArgument(
            f"app: expected what streamable_http_app() or http_app() gives, with one endpoint of "
            f"MCP, found {len(found)}: wrap it before it is mounted, and once"
        )
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
        self._app, self._transport = app, transport
        self._limited = RequestBodyLimitMiddleware(self._post, limit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] == "POST" and not _is_modern(scope):
            await self._limited(scope, receive, send)
        else:
            await self._serve(None, {}, scope, receive, send)

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request whose body comes whole."""
        part: Message | None = await receive()
        sent = part.get("body", b"") if part else b""
        message = read_message(sent)
        unreadable = message is None and sent.strip() != b"null"
        session_id = None
        if self._transport.sep1359 and isinstance(message, dict):
            session_id = take_session(message)
        if session_id is not None:
            body = json.dumps(message).encode()
            part = {"type": "http.request", "body": body}
            scope = _with_headers(scope, {"content-length": str(len(body))})

        async def replay() -> Message:
            nonlocal part
            given, part = part, None
            return given or await receive()

        said: Facts = {"messageSessionId": session_id, "unreadable": unreadable}
        await self._serve(message, said, scope, replay, send)

    async def _serve(
        self, message: Any, said: Facts, scope: Scope, receive: Receive, send: Send
    ) -> None:
        headers = Headers(scope=scope)
        sessions = headers.getlist(_HEADER)
        facts: Facts = {
            "http": scope["method"],
            "modern": _is_modern(scope),
            "version": headers.get(MCP_PROTOCOL_VERSION_HEADER),
            "header": sessions[0] if len(sessions) == 1 else True if sessions else None,
            **said,
        }
        exchange = TransportExchange(self._transport, message, facts, Request(scope))
        try:
            step = await exchange.entered()
            if step["step"] != "deliver":
                await _replied(exchange, step)(scope, receive, send)
                return
            if version := step.get("version"):
                scope = _with_headers(scope, {MCP_PROTOCOL_VERSION_HEADER: version})
            if exchange.caller.known is not None or exchange.begins:
                scope = {**scope, SCOPE_KEY: exchange}
            if exchange.begins:
                await self._initialize(exchange, scope, receive, send)
            elif added := step.get("addSessionId"):
                await self._app(scope, receive, _adding(added, send))
            else:
                await self._app(scope, receive, send)
        finally:
            exchange.close()

    async def _initialize(
        self, exchange: TransportExchange, scope: Scope, receive: Receive, send: Send
    ) -> None:
        parts: list[Message] = []

        async def hold(part: Message) -> None:
            parts.append(part)

        # Its answer ends with the result, so it is held back whole.
        await self._app(scope, receive, hold)
        start = next((one for one in parts if one["type"] == "http.response.start"), None)
        body = b"".join(one.get("body", b"") for one in parts)
        results: list[dict[str, Any]] = []

        def report_result(message: dict[str, Any]) -> None:
            if message.get("id") == exchange.identity and isinstance(message.get("result"), dict):
                results.append(message["result"])

        Events(start).feed(body, report_result, last=True)
        if start is None or start["status"] != HTTPStatus.OK or not results:
            for part in parts:
                await send(part)
            return
        headers = MutableHeaders(raw=list(start["headers"]))
        if _HEADER in headers:
            expected = "app: expected a stateless server, found one with sessions"
            report_error(self._transport.config, expected)
            await Response(status_code=HTTPStatus.INTERNAL_SERVER_ERROR)(scope, receive, send)
            return
        step = await exchange.initialized(results[-1])
        if step["step"] != "respond":
            await _replied(exchange, step)(scope, receive, send)
            return
        headers.update(step.get("headers") or {})
        if changes := step.get("set"):
            body = Events(start).feed(body, lambda one: change(one, changes), last=True)
            if "content-length" in headers:
                headers["content-length"] = str(len(body))
        await send({**start, "headers": headers.raw})
        await send({"type": "http.response.body", "body": body})


def _is_modern(scope: Scope) -> bool:
    """Return whether a request is of revision 2026-07-28, by the SDK's own rule for routing."""
    version = Headers(scope=scope).get(MCP_PROTOCOL_VERSION_HEADER)
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


def _adding(session_id: str, send: Send) -> Send:
    """Put the session on what leaves, one event at a time."""
    events: Events | None = None
    start: Message = {}

    def put(message: dict[str, Any]) -> None:
        put_session(message, session_id)

    async def sending(part: Message) -> None:
        nonlocal events, start
        if part["type"] == "http.response.start":
            start, events = part, Events(part)
            if events.streams:
                await send(part)
            return
        if part["type"] != "http.response.body" or events is None:
            await send(part)
            return
        last = not part.get("more_body")
        body = events.feed(part.get("body", b""), put, last=last)
        if not events.streams:
            if not last:
                return
            headers = MutableHeaders(raw=list(start["headers"]))
            headers["content-length"] = str(len(body))
            await send({**start, "headers": headers.raw})
        await send({**part, "body": body})

    return sending


def _with_headers(scope: Scope, more: dict[str, str]) -> Scope:
    headers = MutableHeaders(raw=list(scope["headers"]))
    headers.update(more)
    return {**scope, "headers": headers.raw}


def _replied(exchange: TransportExchange, step: Step) -> Response:
    """Return the response to a message that is answered here, or dropped."""
    if step["step"] != "reply":
        return Response(status_code=HTTPStatus.ACCEPTED)
    allow, status = step.get("allow"), step.get("status") or HTTPStatus.OK
    headers = {"Allow": allow} if allow else {}
    message = exchange.replied(step)
    body = None if message is None else json.dumps(message)
    return Response(body, status, headers, None if body is None else "application/json")

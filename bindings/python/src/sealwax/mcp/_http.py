"""Sessions of revisions to 2025-11-25 around a stateless server: ``Mcp-Session-Id``, SEP-1359."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response

from .. import InternalError, InvalidArgument, Refused, SealwaxError, answer
from ._events import Events
from ._exchange import SCOPE_KEY
from ._negotiated import (
    ABSENT,
    TERMINATE,
    Negotiated,
    SelfContained,
    put_session,
    read_message,
    refused_answer,
    take_session,
)
from ._refusal import token_id
from ._sessions import SESSION_META_KEY

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ._exchange import Exchange

_HEADER = MCP_SESSION_ID_HEADER
_ANOTHER_VERSION = "expected MCP-Protocol-Version to be the negotiated"


def install(app: Any, sessions: SelfContained, *, required: bool, limit: int) -> Any:
    """Put the wrapper around an endpoint: inside of what authenticates, if an SDK made the app."""
    if not isinstance(app, Starlette):
        return SessionsOverHttp(app, sessions, required=required, limit=limit)
    wrapped = 0
    for route in app.routes:
        holder: Any = route
        endpoint: Any = getattr(route, "app", None)
        while isinstance(endpoint, RequireAuthMiddleware):
            holder, endpoint = endpoint, endpoint.app
        if hasattr(endpoint, "session_manager"):
            wrapper = SessionsOverHttp(endpoint, sessions, required=required, limit=limit)
            holder.app = wrapper
            wrapped += 1
    if wrapped != 1:
        raise InvalidArgument(
            f"app: expected what streamable_http_app() or http_app() gives, with one endpoint of "
            f"MCP, found {wrapped}: wrap it before it is mounted, and once"
        )
    return app


class SessionsOverHttp:
    """The ASGI application that stands in front of a stateless server's endpoint."""

    def __init__(
        self, app: ASGIApp, sessions: SelfContained, *, required: bool, limit: int
    ) -> None:
        self._app, self._sessions = app, sessions
        self._required, self._limit = required, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] not in ("POST", "GET", "DELETE"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        sent = headers.getlist(_HEADER)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._of_today(scope, receive, send, sent)
        elif len(sent) > 1:
            await _bad("expected one Mcp-Session-Id, found more")(scope, receive, send)
        elif scope["method"] == "POST":
            await self._post(scope, receive, send, sent[0] if sent else None, version)
        elif scope["method"] == "GET":
            await self._get(scope, receive, send, sent)
        else:
            await self._delete(scope, receive, send, sent[0] if sent else None, version)

    async def _of_today(self, scope: Scope, receive: Receive, send: Send, sent: list[str]) -> None:
        """Let a request of revision 2026-07-28 pass, whose session is not the transport's.

        Where it has a data-layer session, the header is a copy of its id.
        """
        if self._sessions.guard.data_layer is None or not sent or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await self._body(receive)
        if body is None:
            await Response(status_code=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)(scope, receive, send)
            return
        session = _data_layer(_read_today(body))
        if session is not ABSENT and any(session != one for one in sent):
            await _bad("expected Mcp-Session-Id and _meta to name one session")(
                scope, receive, send
            )
            return
        await self._app(scope, _replayed(body, receive), send)

    async def _get(self, scope: Scope, receive: Receive, send: Send, sent: list[str]) -> None:
        """Refuse to stream: a stateless server has nothing to say unasked."""
        if self._required and not sent:
            response = _bad("expected the header Mcp-Session-Id")
        else:
            response = self._not_allowed()
        await response(scope, receive, send)

    def _not_allowed(self) -> Response:
        allow = {"Allow": "POST, DELETE" if self._sessions.can_end else "POST"}
        return Response(status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers=allow)

    async def _delete(
        self, scope: Scope, receive: Receive, send: Send, token: str | None, version: str | None
    ) -> None:
        if not self._sessions.can_end:
            await self._not_allowed()(scope, receive, send)
            return
        exchange = self._sessions.exchange(None, Request(scope))
        if token is None:
            await _bad("expected the header Mcp-Session-Id")(scope, receive, send)
            return
        try:
            session = await self._sessions.open(exchange, token)
            if version is not None and version != session.protocol_version:
                response = _bad(_ANOTHER_VERSION)
            else:
                await self._sessions.end(exchange, session)
                response = Response(status_code=HTTPStatus.NO_CONTENT)
        except SealwaxError as error:
            response = _refused(exchange, error, token)
        await response(scope, receive, send)

    async def _post(
        self, scope: Scope, receive: Receive, send: Send, header: str | None, version: str | None
    ) -> None:
        body = await self._body(receive)
        if body is None:
            await Response(status_code=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)(scope, receive, send)
            return
        message = read_message(body)
        inside = take_session(message) if self._sessions.sep1359 else ABSENT
        if inside is not ABSENT:
            body = json.dumps(message).encode()
            scope = _with_headers(scope, {"content-length": str(len(body))})
        exchange = self._sessions.exchange(message, Request(scope))
        receive = _replayed(body, receive)
        if isinstance(message, dict) and message.get("method") == "initialize":
            await self._initialize(exchange, message, scope, receive, send)
            return
        if header is not None and inside is not ABSENT and header != inside:
            await _bad("expected Mcp-Session-Id and sessionId to be one")(scope, receive, send)
            return
        token = header if inside is ABSENT else inside
        if token is None and inside is ABSENT:
            if self._required:
                await _bad("expected the header Mcp-Session-Id")(scope, receive, send)
            else:
                await self._app(scope, receive, send)
            return
        asks = isinstance(message, dict) and "method" in message
        identity = message.get("id") if asks else None
        peer = inside is not ABSENT
        try:
            session = await self._sessions.open(exchange, token)
            if version is not None and version != session.protocol_version:
                await _bad(_ANOTHER_VERSION)(scope, receive, send)
                return
            ends = self._sessions.sep1359 and asks and message["method"] == TERMINATE
            if ends and identity is None:
                self._sessions.not_asked(exchange, session)
                await Response(status_code=HTTPStatus.ACCEPTED)(scope, receive, send)
                return
            if ends and self._sessions.can_end:
                await self._sessions.end(exchange, session)
                done: dict[str, Any] = {"jsonrpc": "2.0", "id": identity, "result": {}}
                await _json(done)(scope, receive, send)
                return
        except SealwaxError as error:
            await _refused(exchange, error, token, identity, peer=peer)(scope, receive, send)
            return
        if version is None:
            scope = _with_headers(scope, {MCP_PROTOCOL_VERSION_HEADER: session.protocol_version})
        scope = {**scope, SCOPE_KEY: (exchange, session)}
        await self._app(scope, receive, _on_messages(send, session) if peer else send)

    async def _initialize(
        self,
        exchange: Exchange,
        message: dict[str, Any],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        held: list[Message] = []

        async def hold(part: Message) -> None:
            held.append(part)

        # Its answer ends with the result: nothing is gained by sending it piece by piece.
        await self._app({**scope, SCOPE_KEY: (exchange, None)}, receive, hold)
        start = next((one for one in held if one["type"] == "http.response.start"), None)
        body = b"".join(one.get("body", b"") for one in held)
        events = Events.of(start)
        results = [
            one["result"]
            for one in events.messages(body)
            if isinstance(one, dict)
            and one.get("id") == message.get("id")
            and isinstance(one.get("result"), dict)
        ]
        if start is None or start["status"] != HTTPStatus.OK or not results:
            for part in held:
                await send(part)
            return
        try:
            headers = MutableHeaders(raw=list(start["headers"]))
            if _HEADER in headers:
                raise InvalidArgument("app: expected a stateless server, found one with sessions")
            token = await self._sessions.seal(exchange, message.get("params"), results[-1])
        except SealwaxError as error:
            exchange.report("session", error)
            await _internal(message.get("id"))(scope, receive, send)
            return
        headers[_HEADER] = token
        if self._sessions.sep1359:
            more = {"sessionId": token, "sessionTimeout": self._sessions.timeout()}
            body = events.rewritten(body, lambda one: _with_result(one, more))
            if "content-length" in headers:
                headers["content-length"] = str(len(body))
        await send({**start, "headers": headers.raw})
        await send({"type": "http.response.body", "body": body})

    async def _body(self, receive: Receive) -> bytes | None:
        parts: list[bytes] = []
        size = 0
        while True:
            part = await receive()
            if part["type"] != "http.request":
                return b"".join(parts)
            parts.append(part.get("body", b""))
            size += len(parts[-1])
            if size > self._limit:
                return None
            if not part.get("more_body"):
                return b"".join(parts)


def _on_messages(send: Send, session: Negotiated) -> Send:
    """Put the session on what leaves, event by event."""
    events: Events | None = None
    start: Message = {}

    def put(message: dict[str, Any]) -> None:
        put_session(message, session._token)

    async def sending(part: Message) -> None:
        nonlocal events, start
        if part["type"] == "http.response.start":
            start, events = part, Events.of(part)
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


def _with_result(message: dict[str, Any], more: dict[str, Any]) -> None:
    if isinstance(message.get("result"), dict):
        message["result"].update(more)


def _with_headers(scope: Scope, more: dict[str, str]) -> Scope:
    headers = MutableHeaders(raw=list(scope["headers"]))
    headers.update(more)
    return {**scope, "headers": headers.raw}


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _read_today(body: bytes) -> Any:
    """Read JSON as the SDK does in revision 2026-07-28, by another parser than before."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _data_layer(message: Any) -> Any:
    """Return the id of the data-layer session that a message names."""
    try:
        return message["params"]["_meta"][SESSION_META_KEY].get("sessionId", ABSENT)
    except (AttributeError, KeyError, TypeError):
        return ABSENT


def _refused(
    exchange: Exchange, error: SealwaxError, token: Any, identity: Any = None, *, peer: bool = False
) -> Response:
    """Answer, always the same for what was refused, with what the peer expects."""
    exchange.report("session", error, token_id(token))
    if peer and identity is not None:
        return _json(refused_answer(identity, error, token))
    if isinstance(error, Refused):
        return Response(status_code=answer("mcp-session-id")["httpStatus"])
    return _internal(identity)


def _internal(identity: Any) -> Response:
    status = answer("mcp-session-id", InternalError())["httpStatus"]
    return _json(refused_answer(identity, InternalError(), None), status)


def _bad(told: str) -> Response:
    error = {"code": INVALID_REQUEST, "message": f"Bad Request: {told}"}
    return _json({"jsonrpc": "2.0", "id": None, "error": error}, HTTPStatus.BAD_REQUEST)


def _json(message: dict[str, Any], status: int = HTTPStatus.OK) -> Response:
    return Response(json.dumps(message), status, media_type="application/json")

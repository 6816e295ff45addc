"""Data-layer sessions: one value for each, which the client keeps and only the server reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypedDict

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ErrorData, RequestParams
from mcp_types.methods import SPEC_CLIENT_METHODS, SPEC_CLIENT_NOTIFICATION_METHODS
from pydantic import BaseModel

from .. import InvalidArgument, Malformed, SealwaxError, SessionId, _json
from .._sealer import check_ttl, lifetime
from ._exchange import Exchange, exchange_of
from ._refusal import session_required

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.lowlevel import Server

    from .. import Session as Opened
    from .. import SessionMetadata
    from .. import Sessions as Sealed
    from ._guard import Guard

#: Where a message carries the metadata of its session, in ``_meta``.
SESSION_META_KEY = "io.modelcontextprotocol/session"
CREATE, DELETE = "sessions/create", "sessions/delete"
#: Whose params the SDK's models read; those of the author's own methods may have a ``meta``.
_OF_SDK_MODELS = SPEC_CLIENT_METHODS | SPEC_CLIENT_NOTIFICATION_METHODS | {CREATE, DELETE}
_ABSENT = object()

#: Gives the first value of a new session, from the context of the request that creates it.
Initial: TypeAlias = Callable[[Any], Any]


class Required(TypedDict, total=False):
    """What needs a session."""

    #: Methods, such as ``resources/read``.
    methods: Sequence[str]
    #: Names of tools.
    tools: Sequence[str]


class Session:
    """The session of the request that is being served. Made by a guard.

    Two requests at once may write it: then the client keeps what it is answered last, and both
    are of the same generation.
    """

    def __init__(
        self,
        identity: SessionId,
        view: Sealed,
        opened: Opened | None,
        *,
        answered: bool,
    ) -> None:
        self._identity = identity
        self._view = view
        self._opened = opened
        self._answered = answered
        self._value = None if opened is None else opened.json()
        self._written: bytes | None = None
        self._over = False

    @property
    def id(self) -> str:
        """The session id. Not for logs: whoever has it may delete the session; log the ulid."""
        return self._identity.session_id

    @property
    def ulid(self) -> str:
        """The same for as long as the session lives: for logs, and for the key of a row."""
        return self._identity.ulid

    @property
    def generation(self) -> int | None:
        """How often the value was written before; ``None`` where the server holds it."""
        return None if self._opened is None else self._opened.generation

    @property
    def value(self) -> Any:
        """The value, as it was written last; ``None`` where the server holds it."""
        return self._value

    def write(self, value: Any) -> None:
        """Have a value of JSON leave with the response, if that is no JSON-RPC error."""
        self._holding("write")
        if not self._answered:
            raise InvalidArgument(
                "write: expected a request, found a notification: it has no answer"
            )
        self._written = _json.dumps("value", value)
        self._value = value

    def fork(self) -> SessionMetadata:
        """Return the metadata of a new session that begins with this one's value.

        It is for the client to send with requests of that session: hand it out in a result.
        """
        opened = self._holding("fork")
        if self._written is not None:
            return self._view.create(self._written)
        return self._view.fork(opened)

    def _holding(self, act: str) -> Opened:
        """Return what was opened, or raise where nothing was, or nothing can be done any more."""
        if self._over:
            raise InvalidArgument(
                f"{act}: expected a request that is being served, found one that was answered or "
                "cancelled"
            )
        if self._opened is None:
            raise InvalidArgument(
                f"{act}: expected a session that holds its value, found held_by_server: keep it "
                "in a row by session.ulid"
            )
        return self._opened

    def _leaving(self) -> SessionMetadata | dict[str, str]:
        """Return what the response says of the session."""
        if self._opened is not None:
            if self._written is not None:
                return self._view.renew(self._opened, self._written)
            if self._opened.needs_renewal:
                return self._view.renew(self._opened, self._opened.payload)
        return {"sessionId": self.id}

    def __repr__(self) -> str:
        return f"<Session {self.ulid}, generation {self.generation}>"


class Sessions:
    """The data-layer sessions of a guard, as the draft of that name has them. Made by a guard.

    Clients create them with ``sessions/create``, and delete them with ``sessions/delete`` where the
    guard has an `accept` to remember it. Whatever request says that it is of a session is refused
    unless it is good, whether or not its handler looks at it. Lists never depend on a session: in a
    ``*/list`` method there is none.

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> from mcp.server.mcpserver import Context
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
    >>> sessions = guard.sessions(initial=lambda ctx: 0, required={"tools": ["count"]})
    >>> server = MCPServer("counter")
    >>> guard.protect(server)
    >>> @server.tool()
    ... async def count(ctx: Context) -> int:
    ...     session = sessions.of(ctx)
    ...     session.write(session.value + 1)
    ...     return session.value
    """

    def __init__(
        self,
        guard: Guard,
        *,
        initial: Initial | None,
        ttl: int | None,
        no_expiry: bool,
        required: Required | Literal[True] | None,
        held_by_server: bool,
    ) -> None:
        if held_by_server is (initial is not None):
            raise InvalidArgument(
                "initial: expected a function that gives the first value of a session, or none "
                "with held_by_server=True, for nothing would hold it"
            )
        self._guard = guard
        self._initial = initial
        self._life: dict[str, Any] = {"ttl": ttl, "no_expiry": no_expiry}
        self._needed = _needed(required)
        # What the core would say of these when a request comes, said now.
        lifetime(ttl, no_expiry=no_expiry)
        if ttl is not None:
            check_ttl(ttl)

    def of(self, ctx: Any) -> Session | None:
        """Return the session of a handler's request, if it has one.

        `ctx` is the context that the handler was given.
        """
        return exchange_of(self._guard, ctx).session

    def _install(self, server: Server[Any]) -> None:
        for method, handler in ((CREATE, self._create), (DELETE, self._delete)):
            if server.get_request_handler(method) is not None:
                raise InvalidArgument(f"server: expected none that serves {method}, found one")
            # Nothing would remember an end: it is not offered.
            if method == CREATE or self._guard.accept is not None:
                server.add_request_handler(method, RequestParams, handler)
        server.middleware.insert(0, advertise)

    async def _serve(
        self, exchange: Exchange, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Serve one message within its session."""
        metadata = _metadata(ctx)
        if (ctx.params or {}).get("meta") is not None and ctx.method in _OF_SDK_MODELS:
            # The name of the field in Python, by which a model would take it unopened.
            aliased = Malformed("_meta: expected by that name, found meta")
            if ctx.request_id is None:
                exchange.report("session", aliased)
                return None
            exchange.refuse_session(aliased, None, None)
        if ctx.method == DELETE:
            return await call_next(ctx)
        if ctx.method == CREATE:
            if metadata is not _ABSENT:
                exchange.report("session", Malformed("sessions/create: expected no session"))
                raise MCPError(INVALID_PARAMS, "sessions/create: expected no session metadata")
            return await call_next(ctx)
        if metadata is _ABSENT:
            if ctx.request_id is not None and self._needed(ctx):
                _refuse_without(exchange)
            return await call_next(ctx)
        ulid = None
        try:
            identity = await self._verified(exchange, metadata)
            ulid = identity.ulid
            session = await self._opened(exchange, identity, metadata, ctx)
        except SealwaxError as error:
            if ctx.request_id is None:
                exchange.report("session", error, ulid)
                return None
            exchange.refuse_session(error, metadata, ulid)
        exchange.answers_session = True
        if not ctx.method.endswith("/list"):
            exchange.session = session
        result = await call_next(ctx)
        if ctx.request_id is None or isinstance(result, ErrorData):
            return result
        try:
            leaving = session._leaving()
        except SealwaxError as error:
            exchange.fail_session(error, session.ulid)
        sent = _wire(result)
        if sent.get("cacheScope") == "public":
            # What it says of the session is for its user alone, and not for a cache to repeat.
            sent = {**sent, "cacheScope": "private", **({"ttlMs": 0} if "ttlMs" in sent else {})}
        return {**sent, "_meta": {**(sent.get("_meta") or {}), SESSION_META_KEY: leaving}}

    async def _verified(self, exchange: Exchange, metadata: object) -> SessionId:
        view = await self._view(exchange)
        session_id = metadata.get("sessionId") if isinstance(metadata, Mapping) else None
        if not isinstance(session_id, str):
            raise Malformed(f"sessionId: expected a text, found {type(session_id).__name__}")
        return view.verify(session_id)

    async def _opened(
        self,
        exchange: Exchange,
        identity: SessionId,
        metadata: Any,
        ctx: ServerRequestContext[Any, Any],
    ) -> Session:
        view = await self._view(exchange)
        opened = None
        if self._initial is not None:
            state = metadata.get("state")
            if not isinstance(state, str):
                raise Malformed(f"state: expected a text, found {type(state).__name__}")
            opened = view.open({"sessionId": metadata["sessionId"], "state": state})
        session = Session(
            identity,
            view,
            opened,
            answered=ctx.request_id is not None,
        )
        await exchange.accept("session", identity.ulid, _end(identity))
        return session

    async def _view(self, exchange: Exchange) -> Sealed:
        return (await exchange.view()).sessions(**self._life)

    async def _create(self, ctx: Any, _params: Any) -> dict[str, Any]:
        exchange = exchange_of(self._guard, ctx)
        try:
            view = await self._view(exchange)
            if self._initial is None:
                return {"session": view._mint()}
            return {"session": view.create(await self._first(ctx))}
        except SealwaxError as error:
            exchange.fail_session(error)

    async def _first(self, ctx: Any) -> bytes:
        assert self._initial is not None
        try:
            value = self._initial(ctx)
            return _json.dumps("initial", await value if inspect.isawaitable(value) else value)
        except (SealwaxError, MCPError):
            raise
        except Exception as error:
            found = type(error).__name__
            raise InvalidArgument(
                f"initial: expected a function that gives a value of JSON, found {found}"
            ) from error

    async def _delete(self, ctx: Any, _params: Any) -> dict[str, Any]:
        exchange, metadata, ulid = exchange_of(self._guard, ctx), _metadata(ctx), None
        if metadata is _ABSENT:
            _refuse_without(exchange)
        try:
            identity = await self._verified(exchange, metadata)
            ulid = identity.ulid
            await exchange.accept("session", ulid, _end(identity))
            await exchange.ended("session", ulid, _end(identity))
        except SealwaxError as error:
            exchange.refuse_session(error, metadata, ulid)
        return {}


async def advertise(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Say that the server has sessions: outermost, for FastMCP drops what its models know not."""
    result = await call_next(ctx)
    if ctx.method not in ("initialize", "server/discover") or isinstance(result, ErrorData):
        return result
    sent = _wire(result)
    before = sent.get("capabilities") or {}
    experimental = {**(before.get("experimental") or {}), "sessions": {}}
    return {**sent, "capabilities": {**before, "experimental": experimental, "sessions": {}}}


def _refuse_without(exchange: Exchange) -> NoReturn:
    """Answer a request that needs a session and has none."""
    exchange.report("session", Malformed("expected a session, which this request needs"))
    raise session_required()


def _wire(result: HandlerResult) -> dict[str, Any]:
    """Return a result as JSON: a middleware within may return a model, or nothing."""
    if isinstance(result, BaseModel):
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dict(result or {})


def _metadata(ctx: Any) -> object:
    meta = (ctx.params or {}).get("_meta")
    return meta.get(SESSION_META_KEY, _ABSENT) if isinstance(meta, Mapping) else _ABSENT


def _end(identity: SessionId) -> int | None:
    """Return when it ends, in Unix seconds, rounded up."""
    return None if identity.ends_at_ms is None else -(-identity.ends_at_ms // 1000)


def _needed(required: Any) -> Callable[[Any], bool]:
    if required is True:
        free = {"initialize", "ping", "server/discover"}
        return lambda ctx: ctx.method not in free and not ctx.method.endswith("/list")
    if not isinstance(required or {}, Mapping) or set(required or {}) - {"methods", "tools"}:
        raise InvalidArgument(
            'required: expected True, or {"methods": [...], "tools": [...]}, found another'
        )
    named = {kind: _names(kind, (required or {}).get(kind, ())) for kind in ("methods", "tools")}
    lists = sorted(method for method in named["methods"] if method.endswith("/list"))
    if lists:
        raise InvalidArgument(
            f"required: expected no list, for none depends on a session, found {lists[0]}"
        )

    def needed(ctx: Any) -> bool:
        if ctx.method in named["methods"]:
            return True
        name = (ctx.params or {}).get("name") if ctx.method == "tools/call" else None
        return isinstance(name, str) and name in named["tools"]

    return needed


def _names(kind: str, names: Any) -> frozenset[str]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InvalidArgument(f"required: expected a list of names as {kind}, found another")
    return frozenset(names)

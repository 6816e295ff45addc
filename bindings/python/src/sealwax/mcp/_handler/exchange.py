"""One message at the SDK's handlers, from its arrival to its answer."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp.types import ErrorData

from ... import InvalidArgument, SealwaxError, _json, token_fields
from ..._engine import client_value, document_of
from .._caller import Caller
from .._hooks import report
from .._refusal import ArgumentsRefused, HandleRefused, protocol_error, why
from .._sdk_types import HANDSHAKE_PROTOCOL_VERSIONS, IS_SECOND
from .._transport.exchange import SCOPE_KEY, TransportExchange, served
from .._transport.message import json_text, members_of, token_of, with_members, with_opened
from .questions import Confirming
from .session import Session, sent_header, sent_session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from ..._documents import DeliverStep, DoneStep, Fault, HandleOp, ReplyStep, Step
    from ..._engine import Client, Guard
    from ..._engine import Exchange as Engine
    from .._caller import Answer
    from .._options import GuardConfig
    from .._transport.message import Change
    from .questions import Peer

    Context: TypeAlias = ServerRequestContext[Any, Any]

#: The changes for the outermost middleware, if the SDK's models drop what they do not know.
_outermost: ContextVar[list[Sequence[Change]] | None] = ContextVar(
    "sealwax_outermost", default=None
)
#: The member of ``_meta`` by which a context of mcp 1 names its request.
REFERENCE = "io.github.sealwax/exchange"
#: The exchanges of mcp 1, by their references.
by_reference: dict[object, Exchange] = {}


class Boundary:
    """The middleware that replaces the SDK's own ``RequestStateBoundary``."""

    def __init__(
        self,
        config: GuardConfig,
        peer_of: Callable[[GuardConfig, Context], Peer],
        handle_refused: type[HandleRefused] = HandleRefused,
    ) -> None:
        self._config, self._first, self._peer_of = config, config.engines.first, peer_of
        self._engine = config.engines.engine()
        self._handle_refused = handle_refused

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Serve one message."""
        exchange = Exchange(self._config, self._engine, self._handle_refused, ctx)
        try:
            step = await self._arrived(exchange, ctx)
            if step["step"] == "deliver":
                exchange.delivered(step)
                # A handler's own requests to other servers are not part of this message.
                before, around = served.set(exchange), _outermost.set(None)
                try:
                    result = await call_next(with_opened(ctx, exchange.fields, step))
                finally:
                    served.reset(before)
                    _outermost.reset(around)
                found = _reported(result, step)
                if found is None:
                    return result
                engine = exchange.engine
                step = engine.result(found, exchange.fields, whole=step.get("whole"))
                step = await exchange.caller.drive(engine, step)
                if step["step"] == "respond":
                    return _changed(found, step.get("set") or ())
            return _replied(step) if step["step"] == "reply" else None
        finally:
            exchange.close()

    async def _arrived(self, exchange: Exchange, ctx: Context) -> Step:
        """Return the first step that is none of the engine's questions."""
        fields, caller = exchange.fields, exchange.caller
        token = token_of(ctx, fields)
        if self._engine.defers:
            if token is None and (fields is None or not fields.needs_caller):
                return {"step": "deliver", "report": fields and fields.result, "withinMs": 0}
            await caller.identify()
        answers: dict[str, Answer] = {}
        client = None
        if self._first is not None:
            answers["initial"] = partial(self._first, ctx)
        if self._config.confirms and ctx.method.startswith("tools/"):
            settled = exchange.outer.negotiated if exchange.outer else None
            peer = self._peer_of(self._config, ctx)
            confirming = Confirming(self._config, ctx.params or {}, peer, settled)
            client = confirming.client()
            answers["confirm"] = confirming.question
            answers["elicit"] = partial(confirming.elicit, caller)
            answers["list_tools"] = confirming.list_tools
        step = exchange.begin(token, sessions=self._first is not None, client=client)
        return await caller.drive(exchange.engine, step, answers)


class Exchange:
    """A guard's knowledge of the request that is being served."""

    def __init__(
        self,
        config: GuardConfig,
        rules: Guard,
        handle_refused: type[HandleRefused],
        ctx: Context,
    ) -> None:
        self.config, self._rules, self._handle_refused = config, rules, handle_refused
        self._ctx: Context | None = ctx
        #: Where the message and its result carry a token, if they do.
        self.fields = None if ctx.request_id is None else token_fields(ctx.method)
        scope = None if ctx.request is None else getattr(ctx.request, "scope", None)
        outer = (scope and scope.get(SCOPE_KEY)) or served.get()
        #: The wrapper that the message came through, if that is of the same guard.
        self.outer: TransportExchange | None = None
        if isinstance(outer, TransportExchange) and outer.config is config:
            self.outer = outer
        self.caller = Caller(config, ctx) if self.outer is None else self.outer.caller
        self._engine: Engine | None = None
        self._delivered: DeliverStep | None = None
        self.session: Session | None = None
        #: What was raised last of a handle, or of arguments.
        self.refused: HandleRefused | ArgumentsRefused | None = None

    def begin(
        self, token: object = None, *, sessions: bool = False, client: Client | None = None
    ) -> Step:
        """Begin the engine's exchange; return its first step."""
        ctx, fields = self._serving(), self.fields
        params = ctx.params or {}
        session = sent_session(ctx) if sessions else None
        given = params.get("arguments") if fields is not None and fields.needs_caller else None
        self._engine, step = self._rules.message(
            ctx.method,
            fields,
            self.target,
            None if given is None else json_text(given),
            token,
            self.caller.known,
            None if self.outer is None else self.outer.within_ms,
            ctx.request_id is None,
            ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS,
            session,
            None if session is None else sent_header(ctx),
            client,
        )
        if self._ctx is None:
            # Closed by another thread meanwhile.
            self._engine.free()
        return step

    @property
    def target(self) -> object:
        """The tool, prompt or resource, as the client named it, or what runs in its place."""
        for path, value in (self._delivered and self._delivered.get("set")) or ():
            if path == ["name"]:
                return value
        params = self._serving().params or {}
        return params.get((self.fields and self.fields.target) or "name")

    @property
    def engine(self) -> Engine:
        """The engine's exchange, which may begin now; it ends with the request."""
        if self._engine is None:
            self.begin()
        assert self._engine is not None
        return self._engine

    def delivered(self, step: DeliverStep) -> None:
        """Store what was opened."""
        self._delivered = step
        if opened := step.get("session"):
            self.session = Session(self.engine, opened)

    def builtin_result(self) -> str | None:
        """Return the result of a method of the guard's own, as JSON."""
        return self._delivered and self._delivered.get("builtinResult")

    def state(self) -> str | None:
        """Return the ``requestState`` that this guard opened, never the SDK's copy of it."""
        if self.fields is None or self.fields.kind != "request-state":
            raise InvalidArgument(
                "ctx: expected a request that carries a requestState, as those of tools/call, "
                "prompts/get and resources/read do, found another"
            )
        return self._delivered and self._delivered.get("opened")

    def seal_state(self, value: Any) -> str:
        """Return the token of the next ``requestState``."""
        self.state()
        written: bytes | None = None
        try:
            written = _json.dumps("state", value)
            return self.engine.seal_state(written)
        except (SealwaxError, TypeError) as error:
            # The handler may keep it to itself, or its text may go to the model alone.
            self.report(error)
            # An argument that a state cannot be bound to is the model's to mend.
            if written is not None and isinstance(error, InvalidArgument):
                self.refused = ArgumentsRefused(error)
                raise self.refused from None
            raise

    def report(self, error: SealwaxError | TypeError) -> None:
        """Log a failure that the engine left to the handler, and tell the author's hook."""
        ctx, target = self._serving(), client_value(self.target)
        fault: Fault = {
            "code": InvalidArgument.code if isinstance(error, TypeError) else error.code,
            "kind": "request-state",
            "message": str(error),
            "method": ctx.method,
            "target": None if target is True else target,
            "principal": document_of(self.caller.known),
        }
        report(self.config, self.config.engine.report(fault))

    async def handle(self, operation: HandleOp, value: bytes | None = None) -> DoneStep:
        """Run an operation on a handle, or raise :class:`HandleRefused`."""
        step = await self.caller.finish(*self.engine.handle(operation, value))
        self._serving()
        if step["step"] == "reply":
            self.refused = self._handle_refused(step)
            raise self.refused from why(step)
        assert step["step"] == "done"
        return step

    def close(self) -> None:
        """End the request, answered or cancelled: nothing is opened or sealed for it later."""
        # A task that the handler left behind may hold the context, and so this object.
        self._ctx = self._delivered = self.session = None
        if self._engine is not None:
            self._engine.free()
        if self.outer is None:
            self.caller.close()

    def _serving(self) -> Context:
        """Return the SDK's context; raise once the request is over."""
        if self._ctx is None:
            raise InvalidArgument(
                "ctx: expected the context of a request that is being served, found one that was "
                "answered or cancelled"
            )
        return self._ctx


def exchange_of(config: GuardConfig, ctx: Any) -> Exchange:
    """Return the exchange of a handler's context.

    Every handler's context has the session of its request. Comparing it detects an unprotected
    server that a handler calls within its process.
    """
    found = served.get() if IS_SECOND else by_reference.get(_reference(ctx))
    exchange = found if isinstance(found, Exchange) and found.config is config else None
    if exchange is not None and (not IS_SECOND or exchange._serving().session is _session(ctx)):
        return exchange
    raise InvalidArgument(
        "ctx: expected the context of a request to a server that this guard protects, found "
        "another: call guard.protect(server) before it serves"
    )


def _session(ctx: Any) -> object:
    return getattr(_request_context(ctx), "session", None)


def _reference(ctx: Any) -> object:
    meta = getattr(_request_context(ctx), "meta", None)
    return (getattr(meta, "model_extra", None) or {}).get(REFERENCE)


def _request_context(ctx: Any) -> object:
    try:
        return getattr(ctx, "request_context", ctx)
    except ValueError:
        # A context without a request, which MCPServer makes for calls from the author's own code.
        return None


def _replied(step: ReplyStep) -> HandlerResult:
    """Return the result of a reply, or raise its error."""
    if error := step.get("error"):
        raise protocol_error(error)
    result: Any = step.get("tool") or step.get("result")
    return result  # type: ignore[no-any-return]


def _reported(result: HandlerResult, step: DeliverStep) -> dict[str, Any] | None:
    """Return a result as JSON, if the engine wants to know of it."""
    report = step.get("report")
    if not report or isinstance(result, ErrorData):
        return None
    # A middleware inside this one may return a model; the SDK's own chain returns JSON.
    found = result if type(result) is dict else members_of(result)
    return found if report is True or found.get(report) is not None else None


def _changed(result: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    if (made := _outermost.get()) is not None:
        made.append(changes)
    return with_members(result, changes)


async def outermost(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Change a result again outside of a middleware that drops what its models do not know."""
    made: list[Sequence[Change]] = []
    before = _outermost.set(made)
    try:
        result = await call_next(ctx)
    finally:
        _outermost.reset(before)
    if not made or isinstance(result, ErrorData):
        return result
    return _changed(members_of(result), made[-1])

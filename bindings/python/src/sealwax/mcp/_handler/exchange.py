"""The request that is being served, which handlers reach by their context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import InvalidArgument, SealwaxError, _json
from ..._engine import client_value, document_of
from .._caller import Caller
from .._hooks import report
from .._refusal import ArgumentsRefused, HandleRefused, why
from .._sdk_types import HANDSHAKE_PROTOCOL_VERSIONS, IS_SECOND
from .._transport.exchange import SCOPE_KEY, TransportExchange, served
from .._transport.message import json_text
from .session import Session, sent_header, sent_session

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ... import TokenFields
    from ..._documents import DeliverStep, DoneStep, Fault, HandleOp, Step
    from ..._engine import Client, Guard
    from ..._engine import Exchange as Engine
    from .._caller import GuardConfig


#: The member of ``_meta`` by which a context of mcp 1 names its request.
REFERENCE = "io.github.sealwax/exchange"
#: The exchanges of mcp 1, by their references.
by_reference: dict[object, Exchange] = {}


class Exchange:
    """A guard's knowledge of the request that is being served."""

    def __init__(
        self,
        config: GuardConfig,
        rules: Guard,
        handle_refused: type[HandleRefused],
        ctx: ServerRequestContext[Any, Any],
        fields: TokenFields | None,
    ) -> None:
        self.config, self._rules, self._handle_refused = config, rules, handle_refused
        self._ctx: ServerRequestContext[Any, Any] | None = ctx
        self._fields = fields
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
    ) -> tuple[Engine, Step]:
        """Begin the engine's exchange; return it and its first step."""
        ctx, fields = self._serving(), self._fields
        params = ctx.params or {}
        session = sent_session(ctx) if sessions else None
        given = params.get("arguments") if fields is not None and fields.needs_caller else None
        engine, step = self._rules.message(
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
        self._engine = engine
        if self._ctx is None:
            # Closed by another thread meanwhile.
            engine.free()
        return engine, step

    @property
    def target(self) -> object:
        """The tool, prompt or resource, as the client named it, or what runs in its place."""
        for path, value in (self._delivered and self._delivered.get("set")) or ():
            if path == ["name"]:
                return value
        params = self._serving().params or {}
        return params.get((self._fields and self._fields.target) or "name")

    @property
    def engine(self) -> Engine:
        """The engine's exchange, which may begin now; it ends with the request."""
        return self._engine or self.begin()[0]

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
        if self._fields is None or self._fields.kind != "request-state":
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

    def _serving(self) -> ServerRequestContext[Any, Any]:
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

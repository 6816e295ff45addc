"""The request that is being served, which handlers reach by their context."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from ... import InvalidArgument
from .._caller import Caller
from .._refusal import HandleRefused, why
from .._transport.message import SCOPE_KEY, outer_request
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from mcp.server.context import ServerRequestContext

    from ..._documents import DeliverStep, DoneStep, HandleOp
    from ..._engine import Exchange as Engine
    from .._caller import GuardConfig
    from .._transport.message import TransportExchange

ResultT = TypeVar("ResultT")
_current: ContextVar[Exchange | None] = ContextVar("sealwax_exchange", default=None)


class Exchange:
    """A guard's knowledge of the request that is being served."""

    def __init__(
        self,
        config: GuardConfig,
        ctx: ServerRequestContext[Any, Any],
        handle_refused: type[HandleRefused],
    ) -> None:
        self.config = config
        #: The wrapper that the message came through, if that is of the same guard.
        self.outer = _outer(config, ctx)
        self.caller = self.outer.caller if self.outer else Caller(config, ctx)
        #: The engine's, which ends with the request.
        self.engine: Engine | None = None
        self.session: Session | None = None
        #: The result of a method of the guard's own, as JSON.
        self.builtin_result: str | None = None
        self._state: str | None = None
        self._has_state = False
        self._ctx: ServerRequestContext[Any, Any] | None = ctx
        self._handle_refused = handle_refused

    def delivered(self, step: DeliverStep, *, has_state: bool) -> None:
        """Store what was opened; `has_state` tells whether the method carries a requestState."""
        assert self.engine is not None
        self._has_state, self._state = has_state, step.get("opened")
        self.builtin_result = step.get("builtinResult")
        opened = step.get("session")
        self.session = None if opened is None else Session(self.engine, opened)

    def state(self) -> str | None:
        """Return the ``requestState`` that this guard opened, never the SDK's copy of it."""
        if not self._has_state:
            raise InvalidArgument(
                "ctx: expected a request that carries a requestState, as those of tools/call, "
                "prompts/get and resources/read do, found another"
            )
        return self._state

    def seal_state(self, value: bytes) -> str:
        """Return the token of the next ``requestState``, a value as JSON."""
        self.state()
        assert self.engine is not None
        return self.engine.seal_state(value)

    async def handle(self, operation: HandleOp, value: bytes | None = None) -> DoneStep:
        """Run an operation on a handle, or raise :class:`HandleRefused`."""
        assert self.engine is not None
        engine, step = self.engine.handle(operation, value)
        try:
            step = await self.caller.drive(engine, step)
        finally:
            engine.free()
        self._expect_served()
        if step["step"] == "reply":
            raise self._handle_refused(step) from why(step)
        assert step["step"] == "done"
        return step

    async def serve(self, handler: Awaitable[ResultT]) -> ResultT:
        """Run a handler within this exchange."""
        # A handler's own requests to other servers are not part of this message.
        before, outer = _current.set(self), outer_request.set(None)
        try:
            return await handler
        finally:
            _current.reset(before)
            outer_request.reset(outer)

    def close(self) -> None:
        """End the request, answered or cancelled: nothing is opened or sealed for it later."""
        if self.engine is not None:
            self.engine.free()
        if self.outer is None:
            self.caller.close()
        # A task that the handler left behind may hold the context, and so this object.
        self._ctx = self.session = self._state = self.builtin_result = None

    def _expect_served(self) -> None:
        if self._ctx is None:
            raise InvalidArgument(
                "ctx: expected the context of a request that is being served, found one that was "
                "answered or cancelled"
            )


def _outer(config: GuardConfig, ctx: ServerRequestContext[Any, Any]) -> TransportExchange | None:
    scope = getattr(ctx.request, "scope", None) or {}
    outer: TransportExchange | None = scope.get(SCOPE_KEY) or outer_request.get()
    return outer if outer is not None and outer.config is config else None


def exchange_of(config: GuardConfig, ctx: Any) -> Exchange:
    """Return the exchange of a handler's context.

    Every handler's context has the session of its request. Comparing it detects an unprotected
    server that a handler calls within its process.
    """
    exchange = _current.get()
    if exchange is not None and exchange.config is config:
        exchange._expect_served()
        if exchange._ctx is not None and exchange._ctx.session is _session(ctx):
            return exchange
    raise InvalidArgument(
        "ctx: expected the context of a request to a server that this guard protects, found "
        "another: call guard.protect(server) before it serves"
    )


def _session(ctx: Any) -> object:
    try:
        return getattr(getattr(ctx, "request_context", ctx), "session", None)
    except ValueError:
        # A context without a request, which MCPServer makes for calls from the author's own code.
        return None

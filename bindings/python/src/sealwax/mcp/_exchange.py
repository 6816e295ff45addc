"""The request that is being served, which handlers reach by their context."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from .. import InvalidArgument
from ._asking import Asking, TimeLimit
from ._refusal import HandleRefused, why

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from mcp.server.context import ServerRequestContext

    from .._engine import Document
    from .._engine import Exchange as Engine
    from ._asking import Author
    from ._negotiated import Negotiated
    from ._session import Session

#: The key in the scope of an HTTP request under which the wrapper stores its :class:`Outer`.
SCOPE_KEY = "sealwax.session"
ResultT = TypeVar("ResultT")
_current: ContextVar[Exchange | None] = ContextVar("sealwax_exchange", default=None)


@dataclass(frozen=True, slots=True)
class Outer:
    """A wrapper's knowledge of a request."""

    author: Author
    asking: Asking
    #: The negotiated session, if the SDK does not know it.
    negotiated: Negotiated | None = None


#: The same without a scope: the SDK serves a message in the context that it was read in.
around: ContextVar[Outer | None] = ContextVar("sealwax_around", default=None)


class Exchange:
    """A guard's knowledge of the request that is being served."""

    def __init__(
        self,
        author: Author,
        ctx: ServerRequestContext[Any, Any],
        handle_refused: type[HandleRefused],
    ) -> None:
        self.author = author
        outer = _outer(author, ctx)
        self.asking = Asking(author, ctx) if outer is None else outer.asking
        self.negotiated = None if outer is None else outer.negotiated
        self.session: Session | None = None
        #: The result of a method of the guard's own, as JSON.
        self.own: str | None = None
        self._engine: Engine | None = None
        self._state: str | None = None
        self._carries_state = self._over = False
        self._owns = outer is None
        self._ctx: ServerRequestContext[Any, Any] | None = ctx
        self._handle_refused = handle_refused

    def begun(self, engine: Engine) -> None:
        """Take ownership of the engine's exchange, which ends with the request."""
        self._engine = engine

    def opened_state(self, state: str | None) -> None:
        """Store the opened ``requestState`` of a request whose method carries one."""
        self._carries_state, self._state = True, state

    def state(self) -> str | None:
        """Return the ``requestState`` that this guard opened, never the SDK's copy of it."""
        if not self._carries_state:
            raise InvalidArgument(
                "ctx: expected a request that carries a requestState, as those of tools/call, "
                "prompts/get and resources/read do, found another"
            )
        return self._state

    def seal_state(self, value: bytes) -> str:
        """Return the token of the next ``requestState``, a value as JSON."""
        self.state()
        assert self._engine is not None
        return self._engine.seal_state(value)

    async def act(self, act: Document, value: bytes | None = None) -> Document:
        """Run an operation on a handle, or raise :class:`HandleRefused`."""
        assert self._engine is not None
        await self.asking.once()
        self._expect_served()
        acting, step = self._engine.act(act, value)
        try:
            limit = TimeLimit(self.author.accept_timeout)
            step = await self.asking.drive(acting, step, limit=limit)
        finally:
            acting.free()
        self._expect_served()
        if step["step"] == "reply":
            raise self._handle_refused(step) from why(step)
        return step

    async def serve(self, handler: Awaitable[ResultT]) -> ResultT:
        """Run a handler within this exchange."""
        # A handler's own requests to other servers are not part of this message.
        before, outer = _current.set(self), around.set(None)
        try:
            return await handler
        finally:
            _current.reset(before)
            around.reset(outer)

    def close(self) -> None:
        """End the request, answered or cancelled: nothing is opened or sealed for it later."""
        if self._engine is not None:
            self._engine.free()
        if self._owns:
            self.asking.close()
        # A task that the handler left behind may hold the context, and so this object.
        self._over, self._ctx = True, None
        self.session = self._state = self.own = None

    def _expect_served(self) -> None:
        if self._over:
            raise InvalidArgument(
                "ctx: expected the context of a request that is being served, found one that was "
                "answered or cancelled"
            )


def _outer(author: Author, ctx: ServerRequestContext[Any, Any]) -> Outer | None:
    """Return a wrapper's knowledge of a request, if it is of the same guard."""
    scope = getattr(ctx.request, "scope", None) or {}
    outer: Outer | None = scope.get(SCOPE_KEY) or around.get()
    return outer if outer is not None and outer.author is author else None


def exchange_of(author: Author, ctx: Any) -> Exchange:
    """Return the exchange of a handler's context.

    Every handler's context has the session of its request. Comparing it detects an unprotected
    server that a handler calls within its process.
    """
    exchange = _current.get()
    if exchange is not None and exchange.author is author:
        exchange._expect_served()
    if (
        exchange is None
        or exchange.author is not author
        or exchange._ctx is None
        or exchange._ctx.session is not _session(ctx)
    ):
        raise InvalidArgument(
            "ctx: expected the context of a request to a server that this guard protects, found "
            "another: call guard.protect(server) before it serves"
        )
    return exchange


def _session(ctx: Any) -> object:
    try:
        return getattr(getattr(ctx, "request_context", ctx), "session", None)
    except ValueError:
        # A context without a request, which MCPServer makes for calls from the author's own code.
        return None

"""One request and its answer: who it is from, and what is opened and sealed for it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import anyio

from .. import InvalidArgument, Principal, Refused, SealwaxError, View
from ._accept import LARGEST_SKEW, Presented, ask, tell
from ._principal import checked
from ._refusal import (
    HandleRefused,
    Kind,
    Refusal,
    protocol_error,
    report,
    session_error,
    token_id,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.server.context import ServerRequestContext

    from ._guard import Guard
    from ._negotiated import Negotiated
    from ._sessions import Session

#: Where the scope of an HTTP request holds its exchange and what was negotiated.
SCOPE_KEY = "sealwax.session"
_current: ContextVar[Exchange | None] = ContextVar("sealwax_exchange", default=None)


class Exchange:
    """What a guard knows of the request that is being served."""

    def __init__(
        self,
        guard: Guard,
        ctx: ServerRequestContext[Any, Any],
        handle_refused: type[HandleRefused] = HandleRefused,
    ) -> None:
        self.guard = guard
        self.principal: Principal | None = None
        #: The data-layer session of the request, where its handler may see it.
        self.session: Session | None = None
        #: Whether the response says of a data-layer session, so that it is for its user alone.
        self.answers_session = False
        self._carries_state = False
        self._state: str | None = None
        self._over = False
        self._ctx: Any = ctx
        self._handle_refused = handle_refused
        self._view: View | SealwaxError | None = None
        # Taken without a turn of the event loop: a handler begins as soon as without a guard.
        self._asking = anyio.Lock(fast_acquire=True)

    async def view(self) -> View:
        """Return the codec's view for the request's principal, who is asked for once."""
        async with self._asking:
            self._expect_served()
            if self._view is None:
                try:
                    self._view = await self._known() or await self._identify()
                except SealwaxError as error:
                    self._view = error
        if isinstance(self._view, SealwaxError):
            raise self._view
        return self._view

    async def _known(self) -> View | None:
        """Return what the wrapper around the server found out, if there is one."""
        outer = session_of(self._ctx.request, self.guard)
        if outer is None or outer[0] is self:
            return None
        view = await outer[0].view()
        self.principal = outer[0].principal
        return view

    def opened_state(self, state: str | None) -> None:
        """Keep what was opened of the request's ``requestState``, for its method carries one."""
        self._carries_state, self._state = True, state

    def state(self) -> str | None:
        """Return the ``requestState`` that was opened: never what the SDK has of it."""
        if not self._carries_state:
            raise InvalidArgument(
                "ctx: expected a request that carries a requestState, as those of tools/call, "
                "prompts/get and resources/read do, found another"
            )
        return self._state

    def negotiated(self) -> Negotiated | None:
        """Return what was negotiated when the request's session began."""
        outer = session_of(self._ctx.request, self.guard)
        return None if outer is None else outer[1]

    async def _identify(self) -> View:
        principal_of, codec = self.guard.principal, self.guard.codec
        if isinstance(principal_of, str):
            return codec.view(anonymous=True)
        try:
            found = principal_of(self._ctx)
            if inspect.isawaitable(found):
                found = await found
            principal = checked(found)
            view = codec.view(**principal._asdict())
        except InvalidArgument:
            raise
        except Exception as error:
            # Its message is not for the log: it may hold the credential that it is about.
            raise InvalidArgument(
                f"principal: expected a function that gives one, found {type(error).__name__}"
            ) from error
        self.principal = principal
        return view

    async def accept(
        self, kind: Kind, identity: str, end: float | None, *, anybodys: bool = False
    ) -> None:
        """Raise unless what was verified is accepted; `end` is its own, in Unix seconds."""
        presented = self._presented(kind, identity, end)
        if anybodys:
            presented = replace(presented, principal=None)
        await ask(self.guard.accept, presented, timeout=self.guard.accept_timeout)

    async def ended(self, kind: Kind, identity: str, end: float | None) -> None:
        """Tell what accepts that something ended; `end` is as for :meth:`accept`."""
        if self.guard.accept is None:
            raise InvalidArgument("end: expected a Guard with accept=, which remembers what ended")
        presented = self._presented(kind, identity, end)
        await tell(self.guard.accept, presented, timeout=self.guard.accept_timeout)

    def _presented(self, kind: Kind, identity: str, end: float | None) -> Presented:
        over = None if end is None else math.ceil(end) + LARGEST_SKEW
        return Presented(kind, identity, self.principal, over)

    def refuse(self, kind: Kind, error: SealwaxError, token: object = None) -> NoReturn:
        """Answer a request whose token was not good, or could not be judged."""
        self.report(kind, error, token_id(token))
        raise protocol_error(kind, refused=isinstance(error, Refused)) from error

    def fail(self, kind: Kind, error: SealwaxError) -> NoReturn:
        """Answer a request whose result could not be sealed: the client did nothing wrong."""
        self.report(kind, error)
        raise protocol_error(kind, refused=False) from error

    def refuse_handle(
        self, kind: Kind, error: SealwaxError, handle: object, ulid: str | None = None
    ) -> NoReturn:
        """End a tool whose handle was not good, or could not be judged."""
        self.report(kind, error, ulid or token_id(handle))
        raise self._handle_refused(refused=isinstance(error, Refused)) from error

    def fail_handle(self, kind: Kind, error: SealwaxError) -> NoReturn:
        """End a tool whose handle could not be made."""
        self.report(kind, error)
        raise self._handle_refused(refused=False) from error

    def refuse_session(self, error: SealwaxError, metadata: Any, ulid: str | None) -> NoReturn:
        """Answer a request whose data-layer session was not good, or could not be judged."""
        sent = metadata if isinstance(metadata, Mapping) else {}
        self.report("session", error, ulid or token_id(sent.get("state")))
        refused = isinstance(error, Refused)
        raise session_error(sent.get("sessionId"), refused=refused) from error

    def fail_session(self, error: SealwaxError, ulid: str | None = None) -> NoReturn:
        """Answer a request whose session could not be made, or its value not be sealed."""
        self.report("session", error, ulid)
        raise session_error(None, refused=False) from error

    def report(self, kind: Kind, error: SealwaxError, identity: str | None = None) -> None:
        """Tell the log and the author why."""
        refusal = Refusal(error.code, kind, str(error), identity, self.principal)
        report(self.guard.on_refused, refusal)

    def _expect_served(self) -> None:
        if self._over:
            raise InvalidArgument(
                "ctx: expected the context of a request that is being served, found one that was "
                "answered or cancelled"
            )

    @contextmanager
    def served(self) -> Iterator[None]:
        """Be the exchange of what handlers run within."""
        before = _current.set(self)
        try:
            yield
        finally:
            _current.reset(before)

    def close(self) -> None:
        """End with the request, answered or cancelled: nothing is opened or sealed for it later."""
        if self.session is not None:
            self.session._over = True
        # What a handler left behind may hold the context, and so this, for as long as it likes.
        self._over, self._ctx = True, None
        self.session = self._view = self._state = None


def session_of(request: Any, guard: Guard) -> tuple[Exchange, Negotiated | None] | None:
    """Return what the wrapper of a guard knows of an HTTP request."""
    scope = getattr(request, "scope", None) or {}
    known: tuple[Exchange, Negotiated | None] | None = scope.get(SCOPE_KEY)
    return known if known is not None and known[0].guard is guard else None


def exchange_of(guard: Guard, ctx: Any) -> Exchange:
    """Return the exchange that a handler's context is part of.

    Every handler's context has the session of its request. To compare it keeps a server that a
    handler calls in its own process from being taken for a protected one.
    """
    exchange = _current.get()
    if exchange is not None and exchange.guard is guard:
        exchange._expect_served()
    if (
        exchange is None
        or exchange.guard is not guard
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
        # A context of no request, as MCPServer makes for calls from the author's own code.
        return None

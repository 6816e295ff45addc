"""The author's callbacks for one request: principal, accept, ledger and on_refused."""

from __future__ import annotations

import inspect
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from .. import InvalidArgument, Principal
from ._accept import Presented
from ._principal import checked, is_signed_in
from ._refusal import AcceptUnavailable, Refusal, logger, report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from mcp.server.context import ServerRequestContext

    from .._engine import Document, Exchange
    from ._accept import Accept
    from ._ledger_client import LedgerClient
    from ._principal import Anonymous, PrincipalOf
    from ._refusal import OnRefused

_YES, _ANONYMOUS, _NOBODY = {"answer": "yes"}, {"anonymous": True}, {"nobody": True}


class GuardConfig(Protocol):
    """The callbacks that an author gave a guard."""

    principal: PrincipalOf | Anonymous
    accept: Accept | None
    accept_timeout: float
    on_refused: OnRefused | None
    ledger: LedgerClient | None
    #: Whether it was said that an anonymous principal ignores who is signed in.
    has_warned: bool


class TimeLimit:
    """The time for all questions about one request together: only waiting for answers counts."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    @contextmanager
    def asked(self) -> Iterator[float]:
        """Yield the deadline of a question, by the monotonic clock."""
        began = time.monotonic()
        try:
            yield began + self._left
        finally:
            self._left -= time.monotonic() - began


class Caller:
    """Answers the engine's questions, and resolves the caller at most once per request.

    A wrapper around the server shares it with the guard at the handlers.
    """

    def __init__(self, config: GuardConfig, ctx: ServerRequestContext[Any, Any] | None) -> None:
        self._config = config
        self._ctx = ctx
        #: The caller, once resolved; ``None`` for an anonymous one too.
        self.principal: Principal | None = None
        self._who: Document | None = _ANONYMOUS if config.principal == "anonymous" else None
        self._finding: anyio.Lock | None = None
        if self._who is _ANONYMOUS and ctx is not None and not config.has_warned:
            self._warn(ctx)
        # A wrapper and the handlers share it, and so does what follows the handler.
        self._limit = TimeLimit(config.accept_timeout)

    def _warn(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Warn, once, of the likeliest misuse."""
        if is_signed_in(ctx):
            self._config.has_warned = True
            logger.warning(
                'principal: expected a function, found "anonymous" and a request of an '
                "authenticated user: any user who gets hold of another's token can use it. Pass "
                "principal=sealwax.mcp.principal_from_access_token, or a function of your own"
            )

    @property
    def known(self) -> Document | None:
        """The caller as a document, if it was resolved."""
        unknown = self._who is None or self._who.keys() & {"failed", "nobody"}
        return None if unknown else self._who

    async def drive(
        self,
        exchange: Exchange,
        step: Document,
        begin: Callable[[], Awaitable[tuple[Document, bytes | None]]] | None = None,
        update: Callable[[str], tuple[Document, bytes | None]] | None = None,
        limit: TimeLimit | None = None,
    ) -> Document:
        """Answer the engine's questions; return the first step that is not a question.

        They have the time limit of the request, or that of an operation of its handler.
        """
        limit = limit or self._limit
        while True:
            for one in step.get("refused", ()):
                self._report(one)
            value = None
            if step["step"] == "identify":
                event = {"principal": await self.who()}
            elif step["step"] == "ask":
                with limit.asked() as deadline:
                    event = await self._answer(step, deadline)
            elif step["step"] == "ledger" and self._config.ledger is not None:
                with limit.asked() as deadline:
                    event = await self._config.ledger.record(step, deadline)
            elif step["step"] == "update" and update is not None:
                event, value = update(step["value"])
            elif step["step"] == "begin" and begin is not None:
                event, value = await begin()
            else:
                return step
            step = exchange.on(event, value)

    async def who(self) -> Document:
        """Return the caller, or the failure to resolve it, as an event."""
        return self._who or await self._find()

    async def once(self) -> None:
        """Resolve the caller once, also for a handler that uses two handles at a time."""
        if self._who is None:
            self._finding = self._finding or anyio.Lock(fast_acquire=True)
            async with self._finding:
                await self.who()

    async def _find(self) -> Document:
        principal_of: Any = self._config.principal
        try:
            found = principal_of(self._ctx)
            if inspect.isawaitable(found):
                found = await found
            self.principal = None if found is None else checked(found)
        except InvalidArgument as error:
            self._who = {"failed": str(error)}
        except Exception as error:
            # Its message is not logged: it may hold the credential.
            expected = "principal: expected a function that gives one"
            self._who = {"failed": f"{expected}, found {type(error).__name__}"}
        else:
            self._who = _NOBODY if self.principal is None else self.principal._asdict()
        return self._who

    async def _answer(self, step: Document, deadline: float) -> Document:
        accept, timeout = self._config.accept, self._config.accept_timeout
        assert accept is not None
        name = "ended" if "end" in step else "accept"
        answer: Document = _YES
        try:
            with anyio.fail_after(deadline - time.monotonic()):
                if "end" in step:
                    await _done(accept.ended(self._presented(step["end"])))
                for place, one in enumerate(step.get("accept", ())):
                    verdict: object = await _done(accept.accept(self._presented(one)))
                    if verdict is False:
                        answer = {"answer": {"no": place}}
                        break
                    if verdict is not True:
                        found = type(verdict).__name__
                        raise AcceptUnavailable(
                            f"expected accept to return True or False, found {found}"
                        )
        except AcceptUnavailable as error:
            return {"answer": {"failed": str(error)}}
        except Exception as error:
            found = type(error).__name__
            return {"answer": {"failed": _late(name, timeout, found)}}
        # A function that cannot be interrupted counts as late too.
        if (over := time.monotonic() - deadline) > 0:
            return {"answer": {"failed": _late(name, timeout, f"{timeout + over:.1f} s")}}
        return answer

    def _presented(self, one: Document) -> Presented:
        whose = None if one.get("public") else self.principal
        return Presented(one["kind"], one["id"], whose, one["until"])

    def _report(self, one: Document) -> None:
        refusal = Refusal(
            one["code"],
            one["kind"],
            one["message"],
            one.get("tokenId"),
            self.principal,
            (self._ctx and self._ctx.method) or None,
            one.get("target"),
        )
        report(self._config.on_refused, refusal)

    def close(self) -> None:
        """Release the request: a task that the handler left behind may still hold this."""
        self._who = self._who or {"failed": "principal: expected before the answer had left"}
        self._ctx = None


def _late(name: str, timeout: float, found: str) -> str:
    return f"expected {name} to answer in {timeout} s, found {found}"


async def _done(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value

"""The author's callbacks for one request."""

from __future__ import annotations

import inspect
import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from .. import InvalidArgument, Principal
from .._cause import named
from .._engine import document_of
from .._log import write
from ..ledger import LedgerError
from ._accept import Presented
from ._hooks import Listener, logger, observe, report
from ._principal import checked, is_signed_in
from ._refusal import AcceptUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from mcp.server.context import ServerRequestContext

    from .. import _documents as documents
    from .._engine import Exchange, Outcome
    from ..ledger import Ledger
    from ._accept import Accept
    from ._principal import Anonymous, PrincipalOf
    from ._transition import Transition


class GuardConfig(Listener, Protocol):
    """The callbacks that an author gave a guard."""

    principal: PrincipalOf | Anonymous
    accept: Accept | None
    time_limit: float
    ledger: Ledger | None
    transition: Transition | None
    #: Whether it was said that an anonymous principal ignores who is signed in.
    has_warned: bool


class Caller:
    """Answers the engine's questions, and resolves the caller at most once per request.

    A wrapper around the server shares it with the guard at the handlers.
    """

    def __init__(self, config: GuardConfig, ctx: ServerRequestContext[Any, Any] | None) -> None:
        self._config, self._ctx = config, ctx
        self._arrived = 0 if config.on_event is None else time.perf_counter_ns()
        self._finding: anyio.Event | None = None
        self._failed: documents.Nobody | documents.Failure | None = None
        #: The caller, if it was resolved.
        self.known: Principal | Anonymous | None = None
        if config.principal == "anonymous":
            self.known = "anonymous"
        if self.known and ctx is not None and not config.has_warned and is_signed_in(ctx):
            config.has_warned = True
            write(
                logger,
                logging.WARNING,
                'sealwax: principal: expected a function, found "anonymous" and a request of an '
                "authenticated user: any user who gets hold of another's token can use it. Pass "
                "principal=sealwax.mcp.principal_from_access_token, or a function of your own",
            )

    @property
    def principal(self) -> Principal | None:
        """The caller, once resolved; ``None`` for an anonymous one too."""
        return self.known if isinstance(self.known, Principal) else None

    async def drive(
        self,
        exchange: Exchange,
        step: documents.Step,
        begin: Callable[[], Awaitable[Outcome]] | None = None,
        update: Callable[[str], Outcome] | None = None,
    ) -> documents.Step:
        """Answer the engine's questions; return the first step that is not a question."""
        while True:
            for entry in step.get("refused") or ():
                report(self._config, entry)
            if events := step.get("events"):
                micros = (time.perf_counter_ns() - (exchange.began or self._arrived)) // 1000
                for one in events:
                    observe(self._config, one, micros)
            event: documents.Event | None = None
            value = None
            if step["step"] == "identify":
                await self.identify()
                who: Any = document_of(self.known) or self._failed
                event = {"principal": who}
            elif step["step"] == "ask":
                event = {"answer": await self._answer(step)}
            elif step["step"] == "ledger":
                event = {"ledger": await self._record(step)}
            elif step["step"] == "transition":
                event = {"transition": await self._opened_elsewhere(step)}
            elif step["step"] == "update" and update is not None:
                event, value = update(step["value"])
            elif step["step"] == "begin" and begin is not None:
                event, value = await begin()
            if event is None:
                return step
            step = exchange.on(event, value)

    async def identify(self) -> None:
        """Resolve the caller once, also for a handler that uses two handles at a time."""
        while self._finding is not None:
            await self._finding.wait()
        if self.known is not None or self._failed is not None:
            return
        principal_of: Any = self._config.principal
        try:
            found = principal_of(self._ctx)
            if type(found) is not Principal and inspect.isawaitable(found):
                self._finding = anyio.Event()
                try:
                    found = await found
                finally:
                    self._finding.set()
                    self._finding = None
            if found is None:
                self._failed = {"nobody": True}
            else:
                self.known = checked(found)
        except InvalidArgument as error:
            self._failed = {"failed": str(error)}
        except Exception as error:
            # Its message is not logged: it may hold the credential.
            expected = "principal: expected a function that gives one"
            self._failed = {"failed": f"{expected}, found {named(error)}"}

    async def _answer(self, step: documents.AskStep) -> documents.Answer | documents.Failure:
        accept, end = self._config.accept, step.get("end")
        assert accept is not None
        try:
            with _within(step):
                if end is not None:
                    await awaited(accept.ended(self._presented(end)))
                for place, one in enumerate(step.get("accept") or ()):
                    verdict: object = await awaited(accept.accept(self._presented(one)))
                    if verdict is False:
                        return {"no": place}
                    if verdict is not True:
                        found = type(verdict).__name__
                        raise AcceptUnavailable(
                            f"expected accept to return True or False, found {found}"
                        )
        except AcceptUnavailable as error:
            return {"failed": str(error)}
        except Exception as error:
            name = "accept" if end is None else "ended"
            expected = f"expected {name} to answer in {self._config.time_limit} s"
            return {"failed": f"{expected}, found {named(error)}"}
        return "yes"

    async def _record(self, step: documents.LedgerStep) -> Sequence[str] | documents.Failure:
        assert self._config.ledger is not None
        command = {name: step[name] for name in ("script", "keys", "args", "withinMs")}
        try:
            with _within(step):
                return await self._config.ledger.run(command)
        except LedgerError as error:
            why = str(error)
        except Exception as error:
            # Its message is not logged: it may hold the store's credentials.
            expected = f"expected an answer in {step['withinMs'] / 1000:g} s"
            why = f"{expected}, found {named(error)}"
        return {"failed": f"ledger: {why}"}

    async def _opened_elsewhere(
        self, step: documents.TransitionStep
    ) -> documents.Transition | documents.Failure:
        assert self._config.transition is not None
        opener = self._config.transition.open
        try:
            with _within(step):
                opened: object = await awaited(opener(step["token"], self._ctx))
        except Exception as error:
            expected = f"expected transition to answer in {self._config.time_limit} s"
            return {"failed": f"{expected}, found {named(error)}"}
        if opened is None:
            return {"refused": True}
        if not isinstance(opened, str):
            expected = "expected transition to give str or None"
            return {"failed": f"{expected}, found {type(opened).__name__}"}
        return {"opened": opened}

    def _presented(self, one: documents.Presented) -> Presented:
        whose = None if one.get("public") else self.principal
        return Presented(one["kind"], one["id"], whose, one["until"])

    def close(self) -> None:
        """Release the request: a task that the handler left behind may still hold this."""
        if self.known is None and self._failed is None:
            self._failed = {"failed": "principal: expected before the answer had left"}
        self._ctx = None


@contextmanager
def _within(
    step: documents.AskStep | documents.LedgerStep | documents.TransitionStep,
) -> Iterator[None]:
    """Raise unless the time of a step suffices, also for what cannot be interrupted."""
    seconds = step["withinMs"] / 1000
    until = time.monotonic() + seconds
    with anyio.fail_after(seconds):
        yield
    if time.monotonic() > until:
        raise TimeoutError


async def awaited(value: Any) -> Any:
    """Return what an author's function gives, at once or later."""
    return await value if inspect.isawaitable(value) else value
